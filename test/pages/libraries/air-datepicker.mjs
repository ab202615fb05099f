// Air Datepicker: the inline calendar, the buttons and the time picker of its documentation's examples.
import 'air-datepicker/air-datepicker.css';
import AirDatepicker from 'air-datepicker';
import en from 'air-datepicker/locale/en';
const locale = en.default ?? en;
const Picker = AirDatepicker.default ?? AirDatepicker;
main.innerHTML = `<label for="field">Departure</label> <input id="field"><div id="calendar"></div><div id="timed"></div>`;
globalThis.picker = new Picker('#field', { locale });
globalThis.inline = new Picker('#calendar', { inline: true, locale, buttons: ['today', 'clear'], startDate: '2024-05-15', onSelect: ({ formattedDate }) => say(formattedDate) });
globalThis.timed = new Picker('#timed', { inline: true, locale, timepicker: true, onlyTimepicker: true, selectedDates: [new Date(2024, 4, 15, 10, 30)] });
