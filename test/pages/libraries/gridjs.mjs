// Grid.js: the search, sorting and pagination examples of its documentation, with its cellClick event.
import 'gridjs/dist/theme/mermaid.css';
import { Grid } from 'gridjs';
main.innerHTML = '<div id="wrapper"></div>';
const names = ['John', 'Mark', 'Eoin', 'Nisen', 'Lena', 'Maria', 'Anne'];
globalThis.grid = new Grid({
  columns: ['Name', 'Email', 'Phone Number'], data: names.map((name, index) => [name, `${name.toLowerCase()}@example.com`, `(01) 22 888 444${index}`]),
  search: true, sort: true, pagination: { limit: 3 },
}).render(wrapper);
grid.on('cellClick', (_, cell) => say(cell.data));
