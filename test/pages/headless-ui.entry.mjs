// Headless UI's React components; the page says by `data-show` which.
import { Dialog, DialogPanel, Listbox, ListboxButton, ListboxOption, ListboxOptions, Switch, Tab, TabGroup, TabList, TabPanel, TabPanels, Field, Label, Checkbox } from '@headlessui/react';
import { createElement as h, useState } from 'react';
import { createRoot } from 'react-dom/client';

function Form() {
  const [on, setOn] = useState(false);
  const [checked, setChecked] = useState(false);
  return h('div', null,
    h(Field, null, h(Label, null, 'Notifications'), h(Switch, { checked: on, onChange: setOn, style: { width: 40, height: 20 } })),
    h(Field, null, h(Checkbox, { checked, onChange: setChecked, style: { display: 'inline-block', width: 16, height: 16, border: '1px solid' } }), h(Label, null, 'Subscribe')),
    h(TabGroup, null, h(TabList, null, h(Tab, null, 'Recent'), h(Tab, null, 'Popular')), h(TabPanels, null, h(TabPanel, null, h('button', null, 'In recent')), h(TabPanel, null, h('button', null, 'In popular')))),
    h(Listbox, { value: 'Ada', onChange() {} }, h(ListboxButton, null, 'Ada'), h(ListboxOptions, { static: true }, ['Ada', 'Bob'].map((name) => h(ListboxOption, { key: name, value: name }, `${name} L.`)))),
    h('div', { onClick() {} }, 'Clickable row'));
}

function Modal() {
  return h('div', null, h('button', null, 'Behind'), h(Dialog, { open: true, onClose() {}, style: { position: 'relative' } },
    h('div', { style: { position: 'fixed', inset: 0, background: '#0006' } }, h(DialogPanel, { style: { background: '#fff', margin: 50 } }, h('button', null, 'Deactivate'), h('button', null, 'Cancel')))));
}

const root = document.querySelector('#root');
createRoot(root).render(h(root.dataset.show === 'modal' ? Modal : Form));
