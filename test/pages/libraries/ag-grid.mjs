// AG Grid Community: the quick start of its documentation with filters, check box selection, cell editing, pagination and row dragging.
import { createGrid, ModuleRegistry, AllCommunityModule } from 'ag-grid-community';
ModuleRegistry.registerModules([AllCommunityModule]);
main.innerHTML = '<div id="myGrid" style="height: 400px; width: 700px"></div>';
const rowData = [['Tesla', 'Model Y', 64950], ['Ford', 'F-Series', 33850], ['Toyota', 'Corolla', 29600], ['Mercedes', 'EQA', 48890], ['Fiat', '500', 15774], ['Nissan', 'Juke', 20675]].map(([make, model, price]) => ({ make, model, price, fuel: 'Petrol' }));
globalThis.api = createGrid(myGrid, {
  rowData, rowSelection: { mode: 'multiRow' }, pagination: true, paginationPageSize: 5, paginationPageSizeSelector: [5, 10, 20], suppressColumnVirtualisation: true, animateRows: false,
  columnDefs: [{ field: 'make', editable: true, filter: true, floatingFilter: true }, { field: 'model', width: 150 }, { field: 'price', width: 150, filter: 'agNumberColumnFilter' }, { field: 'fuel', width: 120, editable: true, cellEditor: 'agSelectCellEditor', cellEditorParams: { values: ['Petrol', 'Diesel', 'Electric'] } }],
  onCellClicked: ({ value }) => say(value), onCellDoubleClicked: ({ value }) => say(`double ${value}`), onCellContextMenu: ({ value }) => say(`menu ${value}`),
});
