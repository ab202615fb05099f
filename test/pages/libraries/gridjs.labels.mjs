export const also = '.gridjs-td, .gridjs-tr';
const first = `document.querySelector('.gridjs-td').textContent`;
const cell = (row, column) => `.gridjs-tbody .gridjs-tr:nth-child(${row}) .gridjs-td:nth-child(${column})`;
export const labels = [
  ['Type a keyword', '.gridjs-search-input', 'input', 'lena', `${first} === 'Lena' && document.querySelectorAll('tbody tr').length === 1`],
  ['', '.gridjs-th[data-column-id=name] .gridjs-sort', 'click', null, `${first} === 'Anne'`],
  ['', '.gridjs-th[data-column-id=email] .gridjs-sort', 'click', null, `${first} === 'Anne'`],
  ['', '.gridjs-th[data-column-id=phoneNumber] .gridjs-sort', 'click', null, `document.querySelector('[data-column-id=phoneNumber] .gridjs-sort-asc') !== null`],
  ['John', cell(1, 1), 'click', null, `heard.includes('John')`],
  ['mark@example.com', cell(2, 2), 'click', null, `heard.includes('mark@example.com')`],
  ['(01) 22 888 4442', cell(3, 3), 'click', null, `heard.includes('(01) 22 888 4442')`],
  ['2', '.gridjs-pages button :: 2', 'click', null, `${first} === 'Nisen'`],
  ['3', '.gridjs-pages button :: 3', 'click', null, `${first} === 'Anne'`],
  ['Next', '.gridjs-pages button :: Next', 'click', null, `${first} === 'Nisen'`],
  ['Previous', '.gridjs-pages button :: Previous', 'click', null, `${first} === 'John'`, { after: ['Next'] }],
];
