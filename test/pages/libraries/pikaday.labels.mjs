const shown = (button) => `#container button[data-pika-month="4"][data-pika-day="${button}"]`;
export const also = '.pika-button';
export const labels = [
  ['Date', '#datepicker', 'input', '2024-03-05', `datepicker.value === '2024-03-05'`],
  ['Date', '#datepicker', 'click', null, 'picker.isVisible()'],
  ['Previous Month', '#container .pika-prev', 'click', null, `inline.calendars[0].month === 3`],
  ['Next Month', '#container .pika-next', 'click', null, `inline.calendars[0].month === 5`],
  ['', '#container .pika-select-month', 'select', 'December', `inline.calendars[0].month === 11`],
  ['', '#container .pika-select-year', 'select', '2028', `inline.calendars[0].year === 2028`],
  ['1', shown(1), 'click', null, `inline.getDate().getDate() === 1`],
  ['20', shown(20), 'click', null, `inline.getDate().getDate() === 20`],
  ['31', shown(31), 'click', null, `inline.getDate().getDate() === 31`],
  ['Start', '#other', 'focus', null, 'document.activeElement === other'],
];
