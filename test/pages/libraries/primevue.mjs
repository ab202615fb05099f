// PrimeVue: the input, number, selection, date, slider, rating, chip, tab, accordion, dialog, menu, list, tree, table and paginator demos of its documentation.
import Accordion from 'primevue/accordion';
import AccordionContent from 'primevue/accordioncontent';
import AccordionHeader from 'primevue/accordionheader';
import AccordionPanel from 'primevue/accordionpanel';
import AutoComplete from 'primevue/autocomplete';
import Button from 'primevue/button';
import Checkbox from 'primevue/checkbox';
import Chip from 'primevue/chip';
import Column from 'primevue/column';
import PrimeVue from 'primevue/config';
import DataTable from 'primevue/datatable';
import DatePicker from 'primevue/datepicker';
import Dialog from 'primevue/dialog';
import InputNumber from 'primevue/inputnumber';
import InputOtp from 'primevue/inputotp';
import InputText from 'primevue/inputtext';
import Listbox from 'primevue/listbox';
import Menu from 'primevue/menu';
import MultiSelect from 'primevue/multiselect';
import Paginator from 'primevue/paginator';
import Panel from 'primevue/panel';
import Password from 'primevue/password';
import RadioButton from 'primevue/radiobutton';
import Rating from 'primevue/rating';
import Select from 'primevue/select';
import SelectButton from 'primevue/selectbutton';
import Slider from 'primevue/slider';
import Tab from 'primevue/tab';
import TabList from 'primevue/tablist';
import TabPanel from 'primevue/tabpanel';
import TabPanels from 'primevue/tabpanels';
import Tabs from 'primevue/tabs';
import Textarea from 'primevue/textarea';
import ToggleButton from 'primevue/togglebutton';
import ToggleSwitch from 'primevue/toggleswitch';
import Tree from 'primevue/tree';
import { createApp, h, reactive, ref } from 'vue';
// A small preset, in place of those that are packages of their own.
const line = { background: '#fff', borderColor: '#888', borderRadius: '4px' };
const field = { ...line, color: '#222', paddingX: '10px', paddingY: '8px', placeholderColor: '#666' };
const mark = { ...line, width: '20px', height: '20px', checkedBackground: '#0a7', checkedBorderColor: '#0a7' };
const check = { size: '14px', color: '#222', checkedColor: '#fff' };
const list = { padding: '4px', gap: '2px' };
const option = { padding: '8px 12px', color: '#222', focusBackground: '#eee', selectedBackground: '#cee' };
const overlay = { ...line, color: '#222', shadow: '0 2px 8px #0004' };
const day = { width: '32px', height: '32px', padding: '4px', borderRadius: '50%', color: '#222', selectedBackground: '#0a7', selectedColor: '#fff' };
const button = { primary: { background: '#0a7', borderColor: '#0a7', color: '#fff' } };
const components = {
  inputtext: { root: field }, textarea: { root: field }, inputnumber: { button: { width: '40px' } }, inputotp: { input: { width: '40px' }, root: { gap: '8px' } }, password: { icon: { color: '#666' } },
  checkbox: { root: mark, icon: check }, radiobutton: { root: mark, icon: { ...check, size: '10px' } }, toggleswitch: { root: { width: '40px', height: '24px', borderRadius: '30px', background: '#ccc', borderWidth: '1px', borderColor: 'transparent', checkedBackground: '#0a7', gap: '4px' }, handle: { background: '#fff', size: '16px', borderRadius: '50%' } },
  slider: { track: { background: '#ddd', size: '4px' }, range: { background: '#0a7' }, handle: { width: '20px', height: '20px', background: '#0a7', borderRadius: '50%' } },
  select: { root: field, dropdown: { width: '40px', color: '#666' }, overlay, list, option }, multiselect: { root: field, dropdown: { width: '40px', color: '#666' }, overlay, list, option: { ...option, gap: '8px' } },
  autocomplete: { root: field, dropdown: { width: '40px', color: '#666', ...line }, overlay, list, option }, listbox: { root: line, list, option },
  datepicker: { dropdown: { width: '40px', color: '#666', ...line }, panel: { ...overlay, padding: '12px' }, header: { padding: '4px' }, title: { gap: '8px' }, date: day, weekDay: { padding: '4px' } },
  rating: { icon: { size: '20px', color: '#666', activeColor: '#0a7' }, root: { gap: '6px' } }, togglebutton: { root: { ...line, padding: '4px', color: '#444', checkedColor: '#0a7', checkedBackground: '#eff' }, content: { padding: '4px 10px' } },
  chip: { root: { background: '#eee', borderRadius: '16px', paddingX: '10px', paddingY: '6px', gap: '8px', color: '#222' }, removeIcon: { size: '16px', color: '#666' } },
  tabs: { tab: { padding: '10px 16px', borderWidth: '0', color: '#666', activeColor: '#0a7' }, tablist: { borderWidth: '0 0 1px 0', borderColor: '#ddd' }, tabpanel: { padding: '12px' } },
  accordion: { panel: { borderWidth: '0 0 1px 0', borderColor: '#ddd' }, header: { padding: '14px', borderWidth: '0', color: '#444' }, content: { padding: '0 14px 14px', borderWidth: '0' } },
  panel: { root: line, header: { padding: '14px', borderWidth: '0' }, content: { padding: '0 14px 14px' } }, button: { root: { paddingX: '12px', paddingY: '8px', borderRadius: '4px', iconOnlyWidth: '36px', ...button } },
  menu: { root: overlay, list, item: { padding: '8px 12px', gap: '8px', color: '#222' } }, dialog: { root: overlay, header: { padding: '16px' }, content: { padding: '0 16px 16px' } }, mask: { background: '#0006' },
  tree: { root: { padding: '12px' }, node: { padding: '4px 8px', gap: '8px' }, nodeToggleButton: { size: '28px' } }, datatable: { headerCell: { padding: '10px', borderColor: '#ddd', gap: '8px' }, bodyCell: { padding: '10px', borderColor: '#ddd' } },
  paginator: { root: { padding: '8px', gap: '4px' }, navButton: { width: '36px', height: '36px', borderRadius: '50%', color: '#444', selectedBackground: '#cee' } },
};
const state = reactive({
  username: '', about: '', quantity: 1, secret: '', code: '', cheese: false, pizza: 'Mushroom', volume: 20, city: null, cities: [], country: '', found: [], date: null, inline: null, rating: 0, payment: 'Off', confirmed: false,
  tab: '0', open: null, collapsed: false, visible: false, menu: '', listed: null, selected: null, expanded: {}, rows: [], sort: null, first: 0, chips: ['Amy Elsner', 'Asiya Javayant'], wifi: false, location: false,
  stock: { Bamboo: '24', Lamp: '61' },
});
globalThis.state = state;
const bind = (key, more) => ({ modelValue: state[key], 'onUpdate:modelValue': (value) => { state[key] = value; }, ...more });
const cities = ['New York', 'Rome', 'London', 'Istanbul', 'Paris'];
const countries = ['Germany', 'Greece', 'Ghana', 'Spain'];
const nodes = [
  { key: '0', label: 'Documents', children: [{ key: '0-0', label: 'Expenses' }] },
  { key: '1', label: 'Events', children: [{ key: '1-0', label: 'Meeting' }] },
];
const products = [{ code: 'f230', name: 'Bamboo Watch', price: 65 }, { code: 'nvk', name: 'Black Watch', price: 72 }, { code: 'zz2', name: 'Blue Band', price: 79 }];
const command = (label) => ({ label, command: () => { state.menu = label; } });
const menu = ref(null);
const labelled = (id, text, field) => h('div', { style: 'display: flex; flex-direction: column; gap: 6px; align-items: flex-start' }, [h('label', { for: id }, text), field]);
const setting = (key, title, text) => h('div', { style: 'display: flex; justify-content: space-between; align-items: center; padding: 8px' }, [
  h('div', [h('div', { style: 'font-weight: 600' }, title), h('small', text)]), h(ToggleSwitch, bind(key)),
]);
const fields = () => [
  labelled('username', 'Username', h(InputText, bind('username', { id: 'username' }))),
  labelled('about', 'About you', h(Textarea, bind('about', { id: 'about', rows: 3 }))),
  labelled('stacked', 'Stacked', h(InputNumber, bind('quantity', { inputId: 'stacked', showButtons: true, min: 0, max: 100 }))),
  labelled('password', 'Password', h(Password, bind('secret', { inputId: 'password', toggleMask: true, feedback: false }))),
  h('div', [h('div', { style: 'margin-bottom: 6px' }, 'One-time code'), h(InputOtp, bind('code', { length: 4 }))]),
  h('div', [h(Checkbox, bind('cheese', { inputId: 'cheese', binary: true })), h('label', { for: 'cheese' }, ' Cheese')]),
  h('div', ['Mushroom', 'Pepper'].map((one) => h('span', [h(RadioButton, bind('pizza', { inputId: one, name: 'pizza', value: one })), h('label', { for: one }, ` ${one} `)]))),
  h('div', [h('div', { style: 'margin-bottom: 12px' }, 'Brightness'), h(Slider, bind('volume'))]),
  h(Select, bind('city', { options: cities, placeholder: 'Select a City' })),
  h(MultiSelect, bind('cities', { options: cities, placeholder: 'Select Cities' })),
  labelled('country', 'Country', h(AutoComplete, bind('country', {
    inputId: 'country', dropdown: true, suggestions: state.found,
    onComplete: ({ query }) => { state.found = countries.filter((one) => one.toLowerCase().startsWith(query.toLowerCase())); },
  }))),
  labelled('birthday', 'Birthday', h(DatePicker, bind('date', { inputId: 'birthday', showIcon: true }))),
  h(Rating, bind('rating')),
  h(SelectButton, bind('payment', { options: ['Off', 'On', 'Auto'] })),
  h(ToggleButton, bind('confirmed', { onLabel: 'Confirmed', offLabel: 'Not confirmed' })),
  h('div', state.chips.map((label) => h(Chip, { key: label, label, removable: true, onRemove: () => { state.chips = state.chips.filter((one) => one !== label); } }))),
];
const parts = () => [
  h(Tabs, { value: state.tab, 'onUpdate:value': (value) => { state.tab = value; } }, () => [
    h(TabList, () => [h(Tab, { value: '0' }, () => 'Header I'), h(Tab, { value: '1' }, () => 'Header II')]),
    h(TabPanels, () => [h(TabPanel, { value: '0' }, () => 'First'), h(TabPanel, { value: '1' }, () => 'Second')]),
  ]),
  h(Accordion, { value: state.open, 'onUpdate:value': (value) => { state.open = value; } }, () => ['Shipping', 'Returns'].map((one) =>
    h(AccordionPanel, { value: one }, () => [h(AccordionHeader, () => one), h(AccordionContent, () => 'In 30 days')]))),
  h(Panel, { header: 'Details', toggleable: true, collapsed: state.collapsed, 'onUpdate:collapsed': (value) => { state.collapsed = value; } }, () => 'Some text'),
  h('div', { style: 'display: flex; gap: 10px' }, [
    h(Button, { label: 'Show', onClick: () => { state.visible = true; } }),
    h(Button, { label: 'Menu', onClick: (event) => menu.value.toggle(event) }), h(Menu, { ref: menu, model: [command('Refresh'), command('Export')], popup: true }),
  ]),
  h(Dialog, { visible: state.visible, 'onUpdate:visible': (value) => { state.visible = value; }, modal: true, header: 'Edit profile', style: 'width: 400px' },
    () => [h('p', 'Keep the changes?'), h(Button, { label: 'Yes', onClick: () => { state.answer = 'yes'; state.visible = false; } })]),
  h(Listbox, bind('listed', { options: cities })),
  h('div', [setting('wifi', 'Wi-Fi', 'Connect to known networks'), setting('location', 'Location', 'Share where you are')]),
  h(Tree, {
    value: nodes, selectionMode: 'checkbox', selectionKeys: state.selected, 'onUpdate:selectionKeys': (value) => { state.selected = value; },
    expandedKeys: state.expanded, 'onUpdate:expandedKeys': (value) => { state.expanded = value; },
  }),
  h(DataTable, { value: products, dataKey: 'code', selection: state.rows, 'onUpdate:selection': (value) => { state.rows = value; }, onSort: ({ sortField }) => { state.sort = sortField; } },
    () => [h(Column, { selectionMode: 'multiple' }), h(Column, { field: 'name', header: 'Name', sortable: true }), h(Column, { field: 'price', header: 'Price', sortable: true })]),
  h(DataTable, { value: Object.keys(state.stock).map((item) => ({ item })) }, () => [h(Column, { field: 'item', header: 'Item' }), h(Column, { header: 'In stock' }, {
    body: ({ data: { item } }) => h(InputText, { modelValue: state.stock[item], 'onUpdate:modelValue': (value) => { state.stock[item] = value; } }),
  })]),
  h(Paginator, { first: state.first, rows: 10, totalRecords: 60, 'onUpdate:first': (value) => { state.first = value; } }),
];
const column = (children) => h('div', { style: 'display: flex; flex-direction: column; gap: 16px' }, children);
createApp({ setup: () => () => h('div', { style: 'display: grid; grid-template-columns: 520px 600px; gap: 30px; padding: 20px' }, [column(fields()), column(parts())]) })
  .use(PrimeVue, { theme: { preset: { semantic: { formField: { paddingX: '10px' }, icon: { size: '16px' } }, components } } })
  .mount('#main');
