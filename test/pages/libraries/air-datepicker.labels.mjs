const day = (text) => `#calendar .air-datepicker-cell.-day-:not(.-other-month-) :: ${text}`;
export const also = '.air-datepicker-cell, .air-datepicker-nav--title';
export const labels = [
  ['Departure', '#field', 'click', null, 'picker.visible'],
  ['Departure', '#field', 'focus', null, 'document.activeElement === field'],
  ['', '#calendar [data-action=prev]', 'click', null, 'inline.viewDate.getMonth() === 3'],
  ['', '#calendar [data-action=next]', 'click', null, 'inline.viewDate.getMonth() === 5'],
  ['May', '#calendar .air-datepicker-nav--title', 'click', null, `inline.currentView === 'months'`],
  ['1', day('1'), 'click', null, `heard.includes('05/01/2024')`],
  ['17', day('17'), 'click', null, `heard.includes('05/17/2024')`],
  ['31', day('31'), 'click', null, `heard.includes('05/31/2024')`],
  ['Today', '#calendar .air-datepicker-button :: Today', 'click', null, `inline.viewDate.getFullYear() === new Date().getFullYear()`],
  ['Clear', '#calendar .air-datepicker-button :: Clear', 'click', null, 'inline.selectedDates.length === 0', { after: ['17'] }],
  ['', '#timed input[name=hours]', 'input', '20', `timed.selectedDates[0].getHours() === 20`],
  ['', '#timed input[name=minutes]', 'input', '15', `timed.selectedDates[0].getMinutes() === 15`],
];
