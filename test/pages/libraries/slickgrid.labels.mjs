export const also = '.slick-row, .slick-cell, .slick-header-column, .slick-resizable-handle';
const cell = (row, column) => `.grid-canvas-left .slick-row:nth-of-type(${row + 1}) .slick-cell.l${column}`;
const at = (row, column) => `grid.getActiveCell()?.row === ${row} && grid.getActiveCell()?.cell === ${column}`;
export const labels = [
  ['Task 0', cell(0, 1), 'click', null, at(0, 1)],
  ['Task 2', cell(2, 1), 'click', null, at(2, 1)],
  ['4 days', cell(3, 2), 'click', null, at(3, 2)],
  ['Task 1', cell(1, 1), 'dblclick', null, `heard.includes('double 1,1')`],
  ['Task 1', cell(1, 1), 'input', 'Task X', `data[1].title === 'Task X' || document.querySelector('.slick-cell.editable input')?.value === 'Task X'`],
  ['3 days', cell(2, 2), 'rightclick', null, `heard.some((line) => /^menu/.test(line))`],
  ['Title', '.slick-header-column[data-id=title]', 'click', null, `heard.includes('sort title true')`],
  ['% Complete', '.slick-header-column[data-id=percent]', 'click', null, `heard.includes('sort percent true')`],
  ['', `${cell(1, 0)} input`, 'check', null, `grid.getSelectedRows().join() === '1'`],
  ['', '.slick-header-column input[type=checkbox]', 'check', null, `grid.getSelectedRows().length === 100`],
  ['', '.slick-viewport-top.slick-viewport-left', 'scroll', 'bottom', `grid.getViewport().bottom >= 99`],
];
