// React Aria's components; the page says by `data-show` which.
import { createElement as h } from 'react';
import { Button, Checkbox, ComboBox, DateField, DateInput, DateSegment, Dialog, Disclosure, DisclosurePanel, Group, Heading, Input, Label, Link, ListBox, ListBoxItem, Menu, MenuItem, MenuTrigger, Modal, ModalOverlay, NumberField, Popover, Radio, RadioGroup, SearchField, Select, SelectValue, Slider, SliderThumb, SliderTrack, Switch, Tab, TabList, TabPanel, Tabs, TextField, ToggleButton } from 'react-aria-components';
import { createRoot } from 'react-dom/client';

const box = { border: '1px solid', width: 16, height: 16, display: 'inline-block' };
const options = (...names) => names.map((name) => h(ListBoxItem, { key: name, id: name }, name));

function Form() {
  return h('form', { onSubmit: (event) => event.preventDefault() },
    h(TextField, null, h(Label, null, 'Name'), h(Input)),
    h(NumberField, { defaultValue: 2 }, h(Label, null, 'Guests'), h(Group, null, h(Button, { slot: 'decrement' }, '-'), h(Input), h(Button, { slot: 'increment' }, '+'))),
    h(DateField, null, h(Label, null, 'Born'), h(DateInput, { style: { display: 'flex' } }, (segment) => h(DateSegment, { segment }))),
    h(SearchField, { defaultValue: 'cats' }, h(Label, null, 'Search'), h(Input), h(Button, null, 'x')),
    h(Checkbox, null, h('span', { style: box }), 'Newsletter'),
    h(Switch, null, h('span', { style: box }), 'Dark mode'),
    h(RadioGroup, null, h(Label, null, 'Size'), h(Radio, { value: 's' }, 'Small'), h(Radio, { value: 'l' }, 'Large')),
    h(Slider, { defaultValue: 30, style: { width: 200 } }, h(Label, null, 'Volume'), h(SliderTrack, { style: { height: 20 } }, h(SliderThumb, { style: { width: 16, height: 16, background: 'navy', top: 10 } }))),
    h(Select, { placeholder: 'Choose' }, h(Label, null, 'Animal'), h(Button, null, h(SelectValue)), h(Popover, null, h(ListBox, null, options('Cat', 'Dog')))),
    h(ToggleButton, null, 'Pin'),
    h(Button, { isDisabled: true }, 'Wait'),
    h(Link, { href: '#help' }, 'Help'),
    h(Button, { type: 'submit' }, 'Save'));
}

function Collections() {
  return h('div', null,
    h(Tabs, null, h(TabList, { 'aria-label': 'Sections' }, h(Tab, { id: 'f' }, 'Files'), h(Tab, { id: 's' }, 'Settings')), h(TabPanel, { id: 'f' }, h(Button, null, 'Open')), h(TabPanel, { id: 's' }, h(Button, null, 'Reset'))),
    h(ListBox, { 'aria-label': 'Order', selectionMode: 'single' }, options('By name', 'By date')),
    h(ComboBox, null, h(Label, null, 'Fruit'), h(Input), h(Button, null, 'v'), h(Popover, null, h(ListBox, null, options('Apple', 'Pear')))),
    h(Disclosure, null, h(Heading, null, h(Button, { slot: 'trigger' }, 'Details')), h(DisclosurePanel, null, h(Button, null, 'Deep'))),
    h(MenuTrigger, null, h(Button, null, 'Actions'), h(Popover, null, h(Menu, null, h(MenuItem, null, 'Copy')))));
}

function Overlay() {
  return h('div', null, h(Button, null, 'Behind'),
    h(ModalOverlay, { isOpen: true, isDismissable: true, style: { position: 'fixed', inset: 0, background: '#0006' } },
      h(Modal, { style: { background: '#fff', margin: 50 } }, h(Dialog, null, h(Heading, { slot: 'title' }, 'Delete it?'), h(TextField, null, h(Label, null, 'Reason'), h(Input)), h(Button, null, 'Delete'), h(Button, null, 'Cancel')))));
}

const root = document.querySelector('#root');
createRoot(root).render(h({ form: Form, collections: Collections, modal: Overlay }[root.dataset.show]));
