export const also = '.tabulator-row, .tabulator-cell, .tabulator-col, .tabulator-col-resize-handle, .tabulator-row-resize-handle';
const cell = (row, field) => `.tabulator-row:nth-child(${row}) .tabulator-cell[tabulator-field=${field}]`;
export const labels = [
  ['Name', '.tabulator-col[tabulator-field=name]', 'click', null, `table.getSorters().length === 1 && table.getSorters()[0].field === 'name'`],
  ['Task Progress', '.tabulator-col[tabulator-field=progress]', 'click', null, `table.getSorters()[0]?.field === 'progress'`],
  ['Favourite Color', '.tabulator-col[tabulator-field=col]', 'click', null, `table.getSorters()[0]?.field === 'col'`],
  ['', '.tabulator-col[tabulator-field=name] .tabulator-header-filter input', 'input', 'mar', `table.getDataCount('active') === 2`],
  ['Oli Bob', cell(1, 'name'), 'click', null, `document.querySelector('.tabulator-cell.tabulator-editing input') !== null`],
  ['Oli Bob', cell(1, 'name'), 'input', 'Olivia', `document.querySelector('.tabulator-editing input')?.value === 'Olivia' || table.getRow(1).getData().name === 'Olivia'`],
  ['male', cell(1, 'gender'), 'select', 'unknown', `table.getRow(1).getData().gender === 'unknown'`],
  ['red', cell(1, 'col'), 'dblclick', null, `heard.includes('double Oli Bob')`],
  ['blue', cell(2, 'col'), 'rightclick', null, `heard.includes('menu Mary May')`],
  ['', cell(1, 'car'), 'click', null, `document.querySelector('.tabulator-editing input[type=checkbox]') !== null || table.getRow(1).getData().car === false`],
  ['', '.tabulator-row:nth-child(1) .tabulator-row-handle', 'drag', '.tabulator-row:nth-child(3)', `table.getRow(1).getPosition() > 1`],
  ['2', '.tabulator-page[data-page="2"]', 'click', null, 'table.getPage() === 2'],
  ['Next', '.tabulator-page[data-page=next]', 'click', null, 'table.getPage() === 2'],
  ['Last', '.tabulator-page[data-page=last]', 'click', null, 'table.getPage() === 2'],
  ['Page Size', '.tabulator-page-size', 'select', '25', 'table.getPageSize() === 25'],
];
