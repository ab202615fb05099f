// Vanilla JS Datepicker: the quick start of its documentation, an inline picker and a range picker.
import 'vanillajs-datepicker/css/datepicker.css';
import { Datepicker, DateRangePicker } from 'vanillajs-datepicker';
main.innerHTML = `<label>Birthday <input type="text" name="foo" id="foo"></label>
<div id="range"><input type="text" name="start" id="start" aria-label="Start"><span>to</span><input type="text" name="end" id="end" aria-label="End"></div>
<div id="inline" data-date="05/15/2024"></div>`;
globalThis.picker = new Datepicker(foo, { clearButton: true, todayButton: true });
globalThis.range = new DateRangePicker(document.getElementById('range'));
globalThis.inlinePicker = new Datepicker(inline, {});
inline.addEventListener('changeDate', (event) => say(Datepicker.formatDate(event.detail.date, 'yyyy-mm-dd')));
