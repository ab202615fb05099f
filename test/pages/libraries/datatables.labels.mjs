export const also = 'tbody tr, tbody td, thead th';
const first = `document.querySelector('#example tbody td').textContent`;
export const labels = [
  ['Search', '.dt-search input', 'input', 'Edinburgh', `table.search() === 'Edinburgh' && table.page.info().recordsDisplay === 2`],
  ['entries per page', '.dt-length select', 'select', '25', 'table.page.len() === 25'],
  ['Name', '#example thead th @0', 'click', null, `${first} === 'Dai Rios'`],
  ['Position', '#example thead th @1', 'click', null, `table.order()[0][0] === 1`],
  ['Office', '#example thead th @2', 'click', null, `table.order()[0][0] === 2`],
  ['Age', '#example thead th @3', 'click', null, `table.order()[0][0] === 3`],
  ['2', '.dt-paging-button :: 2', 'click', null, 'table.page() === 1'],
  ['Next', '.dt-paging-button.next', 'click', null, 'table.page() === 1'],
  ['Last', '.dt-paging-button.last', 'click', null, 'table.page() === 1'],
  ['Search', '.dt-search input', 'clear', null, `table.search() === '' && table.page.info().recordsDisplay === 13`, { after: ['Search:input'] }],
];
