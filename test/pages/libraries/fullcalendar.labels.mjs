export const also = '.fc-daygrid-day, .fc-daygrid-day-frame, .fc-daygrid-day-number, .fc-event, .fc-event-main, .fc-event-resizer, .fc-col-header-cell, .fc-daygrid-event-harness';
const event = (text) => `.fc-event:has(.fc-event-title) :: ${text}`;
const on = (id, date) => `calendar.getEventById('${id}').startStr.startsWith('${date}')`;
export const labels = [
  ['Previous month', '.fc-prev-button', 'click', null, `calendar.getDate().getMonth() === 3`],
  ['Next month', '.fc-next-button', 'click', null, `calendar.getDate().getMonth() === 5`],
  ['', '.fc-today-button', 'click', null, `calendar.getDate().getFullYear() === new Date().getFullYear()`],
  ['week', '.fc-timeGridWeek-button', 'click', null, `calendar.view.type === 'timeGridWeek'`],
  ['day', '.fc-timeGridDay-button', 'click', null, `calendar.view.type === 'timeGridDay'`],
  ['', '.fc-daygrid-day[data-date="2024-05-08"]', 'click', null, `heard.includes('2024-05-08')`],
  ['', '.fc-daygrid-day[data-date="2024-05-29"]', 'click', null, `heard.includes('2024-05-29')`],
  ['Conference', event('Conference'), 'click', null, `heard.includes('Conference')`],
  ['Lunch', event('Lunch'), 'hover', null, `heard.includes('over Lunch')`],
  ['Conference', event('Conference'), 'drag', '.fc-daygrid-day[data-date="2024-05-09"]', on('a', '2024-05-09')],
  ['Lunch', event('Lunch'), 'drag', '.fc-daygrid-day[data-date="2024-05-28"]', on('c', '2024-05-28')],
  ['Meeting', '.fc-event:has(.fc-event-time)', 'drag', '.fc-daygrid-day[data-date="2024-05-20"]', on('b', '2024-05-20')],
];
