// SlickGrid: its "basic editing" and "check box row select" examples.
import 'slickgrid/dist/styles/css/slick.grid.css';
import 'slickgrid/dist/styles/css/slick-default-theme.css';
import { Editors, SlickCheckboxSelectColumn, SlickGrid, SlickRowSelectionModel } from 'slickgrid';
main.innerHTML = '<div id="myGrid" style="width:600px;height:260px"></div>';
globalThis.data = Array.from({ length: 100 }, (_, index) => ({ title: `Task ${index}`, duration: `${index + 1} days`, percent: index, driven: index % 5 === 0 }));
const selector = new SlickCheckboxSelectColumn({ cssClass: 'slick-cell-checkboxsel' });
const columns = [selector.getColumnDefinition(),
  { id: 'title', name: 'Title', field: 'title', width: 150, editor: Editors.Text, sortable: true },
  { id: 'duration', name: 'Duration', field: 'duration', editor: Editors.Text },
  { id: 'percent', name: '% Complete', field: 'percent', sortable: true },
  { id: 'driven', name: 'Effort Driven', field: 'driven', formatter: (row, cell, value) => (value ? '✔' : ''), editor: Editors.Checkbox, cannotTriggerInsert: true }];
globalThis.grid = new SlickGrid('#myGrid', data, columns, { editable: true, enableCellNavigation: true, enableColumnReorder: false, autoEdit: false });
grid.setSelectionModel(new SlickRowSelectionModel({ selectActiveRow: false }));
grid.registerPlugin(selector);
grid.onSort.subscribe((_, { sortCol, sortAsc }) => say(`sort ${sortCol.id} ${sortAsc}`));
grid.onDblClick.subscribe((_, { row, cell }) => say(`double ${row},${cell}`));
grid.onContextMenu.subscribe((event) => { event.preventDefault?.(); say(`menu ${JSON.stringify(grid.getCellFromEvent(event))}`); });
grid.onScroll.subscribe((_, { scrollTop }) => say(`scroll ${scrollTop}`));
