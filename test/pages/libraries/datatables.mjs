// DataTables: the "Zero configuration" example of its site, with rows that hear clicks as its "Row selection" event example.
import 'datatables.net-dt/css/dataTables.dataTables.css';
import DataTable from 'datatables.net-dt';
const people = [['Airi Satou', 'Accountant', 'Tokyo', 33], ['Angelica Ramos', 'Chief Executive Officer (CEO)', 'London', 47], ['Ashton Cox', 'Junior Technical Author', 'San Francisco', 66], ['Bradley Greer', 'Software Engineer', 'London', 41], ['Brenden Wagner', 'Software Engineer', 'San Francisco', 28], ['Brielle Williamson', 'Integration Specialist', 'New York', 61], ['Bruno Nash', 'Software Engineer', 'London', 38], ['Caesar Vance', 'Pre-Sales Support', 'New York', 21], ['Cara Stevens', 'Sales Assistant', 'New York', 46], ['Cedric Kelly', 'Senior Javascript Developer', 'Edinburgh', 22], ['Charde Marshall', 'Regional Director', 'San Francisco', 36], ['Colleen Hurst', 'Javascript Developer', 'San Francisco', 39], ['Dai Rios', 'Personnel Lead', 'Edinburgh', 35]];
main.innerHTML = `<table id="example" class="display" style="width:100%"><thead><tr><th>Name</th><th>Position</th><th>Office</th><th>Age</th></tr></thead>
<tbody>${people.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</tbody></table>`;
globalThis.table = new DataTable('#example');
table.on('click', 'tbody tr', function () { say(table.row(this).data()[0]); });
