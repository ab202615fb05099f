// Handsontable: the demo of its documentation's first page, with check box, drop-down, date and context menu columns.
import 'handsontable/styles/handsontable.css';
import 'handsontable/styles/ht-theme-main.css';
import Handsontable from 'handsontable';
main.innerHTML = '<div id="example"></div>';
globalThis.hot = new Handsontable(example, {
  data: [['Tagcat', 'Acura', 8, true, 'red'], ['Zoomzone', 'Audi', 3, false, 'blue'], ['Meeveo', 'BMW', 15, false, 'green'], ['Buzzdog', 'Kia', 0, true, 'red'], ['Katz', 'Lexus', 21, true, 'black']],
  columns: [{ type: 'text' }, { type: 'dropdown', source: ['Acura', 'Audi', 'BMW', 'Kia', 'Lexus'] }, { type: 'numeric' }, { type: 'checkbox' }, { type: 'text', readOnly: true }],
  colHeaders: ['Company', 'Car', 'Qty', 'In stock', 'Colour'], rowHeaders: true, columnSorting: true, contextMenu: true, manualRowMove: true,
  height: 'auto', themeName: 'ht-theme-main', licenseKey: 'non-commercial-and-evaluation',
});
