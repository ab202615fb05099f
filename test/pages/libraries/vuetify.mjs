// Vuetify: the field, number, selection, slider, select, combobox, rating, chip, tab, panel, dialog, menu, list, table, tree and date demos of its documentation.
import 'vuetify/styles';
import { createApp, h, reactive } from 'vue';
import { createVuetify } from 'vuetify';
import * as components from 'vuetify/components';
import { aliases, mdi } from 'vuetify/iconsets/mdi-svg';

const {
  VApp, VAutocomplete, VBtn, VBtnToggle, VCard, VCheckbox, VChip, VChipGroup, VCombobox, VDataTable, VDateInput, VDatePicker, VDialog, VExpansionPanel, VExpansionPanels, VList,
  VListItem, VMenu, VNumberInput, VPagination, VRadio, VRadioGroup, VRating, VSelect, VSlider, VSwitch, VTab, VTable, VTabs, VTextarea, VTextField, VTreeview,
} = components;
const state = reactive({
  firstName: '', bio: '', guests: 1, terms: false, radio: 'one', power: false, volume: 30, color: null, sports: [], city: null, tags: [], rating: 0, page: 1, align: 'left', filters: [], tab: 'one',
  panels: [], dialog: false, menu: '', activated: [], selected: [], sort: [], inline: null, date: null, notifications: false, sound: false, quantity: { Paprika: '1', Saffron: '1' }, chips: ['Vue', 'React'],
});
globalThis.state = state;
const bind = (key, more) => ({ modelValue: state[key], 'onUpdate:modelValue': (value) => { state[key] = value; }, ...more });
const box = (children) => h('div', { style: 'width: 600px; padding: 8px' }, children);
const setting = (key, title, subtitle) => h(VListItem, { title, subtitle }, { append: () => h(VSwitch, bind(key, { hideDetails: true })) });
const desserts = [{ name: 'Frozen Yogurt', calories: 159 }, { name: 'Eclair', calories: 262 }, { name: 'Cupcake', calories: 305 }];
const tree = [{ id: 1, title: 'Applications', children: [{ id: 2, title: 'Calendar' }] }, { id: 3, title: 'Documents', children: [{ id: 4, title: 'Invoice' }] }];
const items = (...texts) => texts;
const page = () => [
  box([
    h(VTextField, bind('firstName', { label: 'First name' })),
    h(VTextarea, bind('bio', { label: 'Biography', rows: 2 })),
    h(VNumberInput, bind('guests', { label: 'Guests', min: 1, max: 9 })),
    h(VCheckbox, bind('terms', { label: 'I agree to the terms' })),
    h(VRadioGroup, bind('radio', { label: 'Plan' }), () => [h(VRadio, { label: 'Radio One', value: 'one' }), h(VRadio, { label: 'Radio Two', value: 'two' })]),
    h(VSwitch, bind('power', { label: 'Power saving', color: 'primary' })),
    h(VSlider, bind('volume', { label: 'Volume', step: 1 })),
    h(VSelect, bind('color', { label: 'Favorite state', items: items('California', 'Colorado', 'Florida', 'Georgia') })),
    h(VSelect, bind('sports', { label: 'Sports', multiple: true, chips: true, items: items('Football', 'Tennis', 'Rowing') })),
    h(VAutocomplete, bind('city', { label: 'City', items: items('Lisbon', 'London', 'Lyon', 'Madrid') })),
    h(VCombobox, bind('tags', { label: 'Keywords', multiple: true, chips: true, closableChips: true, items: items('Gaming', 'Programming') })),
  ]),
  box([
    h(VRating, bind('rating', { length: 5 })),
    h(VPagination, bind('page', { length: 4 })),
    h(VBtnToggle, bind('align', { mandatory: true }), () => ['Left', 'Center', 'Right'].map((one) => h(VBtn, { value: one.toLowerCase() }, () => one))),
    h(VChipGroup, bind('filters', { multiple: true }), () => ['Elevator', 'Parking', 'Garden'].map((one) => h(VChip, { text: one, value: one, filter: true }))),
    h('div', {}, state.chips.map((one) => h(VChip, { key: one, closable: true, 'onClick:close': () => { state.chips = state.chips.filter((other) => other !== one); } }, () => one))),
    h(VTabs, bind('tab'), () => [h(VTab, { value: 'one' }, () => 'Item One'), h(VTab, { value: 'two' }, () => 'Item Two')]),
    h(VExpansionPanels, bind('panels', { multiple: true }), () => [h(VExpansionPanel, { value: 'trip', title: 'Trip name', text: 'Caribbean cruise' }), h(VExpansionPanel, { value: 'place', title: 'Location', text: 'Barbados' })]),
    h(VDialog, bind('dialog', { maxWidth: 400 }), {
      activator: ({ props }) => h(VBtn, { ...props, text: 'Open Dialog' }),
      default: () => h(VCard, { title: 'Delete the account?' }, { actions: () => [h(VBtn, { text: 'Disagree', onClick: () => { state.dialog = false; } }), h(VBtn, { text: 'Agree', onClick: () => { state.agreed = true; } })] }),
    }),
    h(VMenu, {}, {
      activator: ({ props }) => h(VBtn, { ...props, text: 'Dropdown' }),
      default: () => h(VList, {}, () => ['Click Me', 'Rename'].map((title) => h(VListItem, { title, value: title, onClick: () => { state.menu = title; } }))),
    }),
    h(VList, { lines: 'two', width: 500 }, () => [setting('notifications', 'Notifications', 'Notify me about updates'), setting('sound', 'Sound', 'Auto-update apps at any time')]),
  ]),
  box([
    h(VTreeview, { items: tree, activatable: true, itemValue: 'id', activated: state.activated, 'onUpdate:activated': (value) => { state.activated = value; }, 'onUpdate:opened': (value) => { state.opened = value.join(); } }),
    h(VDataTable, bind('selected', {
      items: desserts, itemValue: 'name', showSelect: true, hideDefaultFooter: true, headers: [{ title: 'Dessert', key: 'name' }, { title: 'Calories', key: 'calories' }],
      sortBy: state.sort, 'onUpdate:sortBy': (value) => { state.sort = value; },
    })),
    h(VTable, {}, () => [
      h('thead', h('tr', [h('th', 'Spice'), h('th', 'Quantity')])),
      h('tbody', Object.keys(state.quantity).map((one) => h('tr', [h('td', one), h('td', h(VTextField, { modelValue: state.quantity[one], 'onUpdate:modelValue': (value) => { state.quantity[one] = value; }, hideDetails: true, density: 'compact' }))]))),
    ]),
    h(VDatePicker, bind('inline', { month: 4, year: 2026 })),
    h(VDateInput, bind('date', { label: 'Select a date' })),
  ]),
];
createApp({ render: () => h(VApp, {}, () => page()) })
  .use(createVuetify({ components, icons: { defaultSet: 'mdi', aliases, sets: { mdi } } }))
  .mount('#main');
