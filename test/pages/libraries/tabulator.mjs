// Tabulator: the editable data, header filter, row selection and pagination examples of its documentation.
import 'tabulator-tables/dist/css/tabulator.css';
import { TabulatorFull as Tabulator } from 'tabulator-tables';
const data = [['Oli Bob', 12, 'male', 1, 'red', true], ['Mary May', 42, 'female', 2, 'blue', false], ['Christine Lobowski', 42, 'female', 0, 'green', false], ['Brendon Philips', 98, 'male', 1, 'orange', true], ['Margret Marmajuke', 16, 'female', 5, 'yellow', false], ['Frank Harbours', 38, 'male', 4, 'red', true], ['Jamie Newhart', 23, 'male', 3, 'green', true]]
  .map(([name, progress, gender, rating, col, car], index) => ({ id: index + 1, name, progress, gender, rating, col, car }));
main.innerHTML = '<div id="example-table"></div>';
globalThis.table = new Tabulator('#example-table', {
  data, layout: 'fitColumns', movableRows: true, pagination: 'local', paginationSize: 5, paginationSizeSelector: [5, 10, 25],
  columns: [
    { rowHandle: true, formatter: 'handle', headerSort: false, width: 40 },
    { title: 'Name', field: 'name', editor: 'input', headerFilter: 'input' },
    { title: 'Task Progress', field: 'progress', sorter: 'number', formatter: 'progress', editor: 'number' },
    { title: 'Gender', field: 'gender', editor: 'list', editorParams: { values: ['male', 'female', 'unknown'] }, headerFilter: true },
    { title: 'Favourite Color', field: 'col' },
    { title: 'Driver', field: 'car', editor: true, formatter: 'tickCross' },
  ],
});
table.on('rowClick', (_, row) => say(`row ${row.getData().name}`));
table.on('rowDblClick', (_, row) => say(`double ${row.getData().name}`));
table.on('rowContext', (event, row) => { event.preventDefault(); say(`menu ${row.getData().name}`); });
