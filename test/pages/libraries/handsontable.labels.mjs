export const also = '#example td, #example th, #example .colHeader, .manualColumnResizer, .manualRowMover, .htDropdownMenu, textarea, .htAutocompleteArrow';
const cell = (row, column) => `.ht_master tbody tr:nth-child(${row + 1}) td:nth-of-type(${column + 1})`;
const at = (row, column) => `JSON.stringify(hot.getSelected()?.[0].slice(0, 2)) === '[${row},${column}]'`;
export const labels = [
  ['Tagcat', cell(0, 0), 'click', null, at(0, 0)],
  ['Tagcat', cell(0, 0), 'input', 'Topcat', `hot.getDataAtCell(0, 0) === 'Topcat' || document.querySelector('.handsontableInput')?.value === 'Topcat'`],
  ['Tagcat', cell(0, 0), 'dblclick', null, `hot.getActiveEditor()?.isOpened() === true`],
  ['Meeveo', cell(2, 0), 'click', null, at(2, 0)],
  ['8', cell(0, 2), 'click', null, at(0, 2)],
  ['Audi', cell(1, 1), 'dblclick', null, `hot.getActiveEditor()?.isOpened() === true`],
  ['Audi', cell(1, 1), 'select', 'Kia', `hot.getDataAtCell(1, 1) === 'Kia'`],
  ['', `${cell(1, 3)} input`, 'check', null, 'hot.getDataAtCell(1, 3) === true'],
  ['', `${cell(0, 3)} input`, 'uncheck', null, 'hot.getDataAtCell(0, 3) === false'],
  ['Company', '.ht_clone_top th .colHeader :: Company', 'click', null, `hot.getDataAtCell(0, 0) === 'Buzzdog'`],
  ['Qty', '.ht_clone_top th .colHeader :: Qty', 'click', null, `hot.getDataAtCell(0, 2) === 0`],
  ['Katz', cell(4, 0), 'rightclick', null, `document.querySelector('.htContextMenu')?.checkVisibility() === true`],
  ['Insert row above', '.htContextMenu td :: Insert row above', 'click', null, 'hot.countRows() === 6', { after: ['Katz:rightclick'] }],
];
