// Select2: the single, multiple, placeholder and tagging selects of its documentation.
import 'select2/dist/css/select2.css';
import $ from 'jquery';
import select2 from 'select2';
globalThis.$ = $;
select2(window, $);
const states = ['Alabama', 'Alaska', 'California', 'Hawaii', 'Oregon', 'Washington', 'Wyoming'];
const options = states.map((name) => `<option>${name}</option>`).join('');
main.innerHTML = `<p><label for="single">State</label> <select id="single" style="width:200px">${options}</select></p>
<p><label for="multiple">States</label> <select id="multiple" multiple style="width:300px">${options}</select></p>
<p><label for="cleared">Home</label> <select id="cleared" style="width:200px"><option></option>${options}</select></p>
<p><label for="tags">Colours</label> <select id="tags" multiple style="width:300px"><option selected>orange</option><option>white</option></select></p>
<p><label for="plain">No search</label> <select id="plain" style="width:200px"><option>One</option><option>Two</option></select></p>
<p><label for="off">Closed</label> <select id="off" disabled style="width:200px"><option>Nothing</option></select></p>`;
$('#single, #multiple').select2();
$('#cleared').select2({ placeholder: 'Select a state', allowClear: true });
$('#tags').select2({ tags: true });
$('#plain').select2({ minimumResultsForSearch: Infinity });
$('#off').select2();
