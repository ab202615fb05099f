const day = (text) => `#inline .datepicker-cell.day:not(.prev):not(.next) :: ${text}`;
export const also = '.datepicker-cell';
export const labels = [
  ['Birthday', '#foo', 'input', '02/03/2024', `foo.value === '02/03/2024'`],
  ['Birthday', '#foo', 'click', null, 'picker.active'],
  ['Start', '#start', 'input', '01/02/2024', `start.value === '01/02/2024'`],
  ['End', '#end', 'input', '01/09/2024', `end.value === '01/09/2024'`],
  ['«', '#inline .prev-button', 'click', null, `/April/.test(inline.querySelector('.view-switch').textContent)`],
  ['»', '#inline .next-button', 'click', null, `/June/.test(inline.querySelector('.view-switch').textContent)`],
  ['May 2024', '#inline .view-switch', 'click', null, `inline.querySelector('.view-switch').textContent.trim() === '2024'`],
  ['1', day('1'), 'click', null, `heard.includes('2024-05-01')`],
  ['20', day('20'), 'click', null, `heard.includes('2024-05-20')`],
  ['31', day('31'), 'click', null, `heard.includes('2024-05-31')`],
];
