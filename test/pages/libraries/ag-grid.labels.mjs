export const also = '.ag-row, .ag-cell, .ag-header-cell, .ag-header-cell-menu-button, .ag-header-cell-filter-button, .ag-header-cell-resize, .ag-checkbox, .ag-header-cell-label';
const cell = (row, id) => `.ag-row[row-index="${row}"] .ag-cell[col-id=${id}]`;
const first = `api.getDisplayedRowAtIndex(0).data.make`;
export const labels = [
  ['Tesla', cell(0, 'make'), 'click', null, `heard.includes('Tesla')`],
  ['Corolla', cell(2, 'model'), 'click', null, `heard.includes('Corolla')`],
  ['F-Series', cell(1, 'model'), 'rightclick', null, `heard.includes('menu F-Series')`],
  ['Ford', cell(1, 'make'), 'dblclick', null, `api.getEditingCells().length === 1`],
  ['Ford', cell(1, 'make'), 'input', 'Lada', `api.getDisplayedRowAtIndex(1).data.make === 'Lada' || document.querySelector('.ag-cell-inline-editing input')?.value === 'Lada'`],
  ['Petrol', cell(1, 'fuel'), 'select', 'Electric', `api.getDisplayedRowAtIndex(1).data.fuel === 'Electric'`],
  ['Make', '.ag-header-row-column .ag-header-cell[col-id=make]', 'click', null, `${first} === 'Fiat'`],
  ['Model', '.ag-header-row-column .ag-header-cell[col-id=model]', 'click', null, `${first} === 'Fiat'`],
  ['Price', '.ag-header-row-column .ag-header-cell[col-id=price]', 'click', null, `${first} === 'Fiat'`],
  ['Make Filter', '.ag-floating-filter input[type=text]', 'input', 'nis', `api.getDisplayedRowCount() === 1`],
  ['', '.ag-row[row-index="1"] .ag-selection-checkbox input', 'check', null, `api.getSelectedRows()[0]?.make === 'Ford'`],
  ['', '.ag-header-select-all input', 'check', null, `api.getSelectedRows().length === 6`],
  ['Next Page', '.ag-paging-button[aria-label="Next Page"]', 'click', null, 'api.paginationGetCurrentPage() === 1'],
  ['Last Page', '.ag-paging-button[aria-label="Last Page"]', 'click', null, 'api.paginationGetCurrentPage() === 1'],
  ['Page Size', '.ag-paging-page-size .ag-picker-field-wrapper', 'select', '20', 'api.paginationGetPageSize() === 20'],
];
