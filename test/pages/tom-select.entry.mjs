// Tom Select on a select.
import TomSelect from 'tom-select';
import 'tom-select/dist/css/tom-select.css';
new TomSelect('#person', {});
