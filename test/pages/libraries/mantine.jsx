// Mantine: the input, select, multi select, check box, switch, radio, slider, tabs, menu and accordion demos of its documentation.
import '@mantine/core/styles.css';
import { Accordion, Button, Checkbox, MantineProvider, Menu, MultiSelect, NumberInput, Radio, SegmentedControl, Select, Slider, Switch, Tabs, TextInput } from '@mantine/core';
import { createRoot } from 'react-dom/client';
globalThis.state = {};
const keep = (name) => (value) => { state[name] = value; };
const fruit = ['React', 'Angular', 'Vue', 'Svelte'];
createRoot(main).render(<MantineProvider><div style={{ width: 500, padding: 10 }}>
  <TextInput label="Input label" onChange={(event) => { state.text = event.target.value; }} /><NumberInput label="Amount" defaultValue={4} onChange={keep('amount')} />
  <Select label="Favorite library" data={fruit} onChange={keep('library')} /><MultiSelect label="Libraries" data={fruit} onChange={(value) => { state.libraries = value.join(); }} />
  <Checkbox label="I agree to sell my privacy" onChange={(event) => { state.agree = event.target.checked; }} /><Switch label="Notify me" onChange={(event) => { state.notify = event.target.checked; }} />
  <Radio.Group label="Framework" onChange={keep('framework')}><Radio value="a" label="Alpha" /><Radio value="b" label="Beta" /></Radio.Group>
  <Slider thumbLabel="Zoom" defaultValue={40} onChange={keep('zoom')} /><SegmentedControl data={['Preview', 'Code', 'Export']} onChange={keep('segment')} />
  <Tabs defaultValue="gallery" onChange={keep('tab')}><Tabs.List><Tabs.Tab value="gallery">Gallery</Tabs.Tab><Tabs.Tab value="settings">Settings</Tabs.Tab></Tabs.List></Tabs>
  <Accordion onChange={keep('open')}><Accordion.Item value="apples"><Accordion.Control>Apples</Accordion.Control><Accordion.Panel>Crisp</Accordion.Panel></Accordion.Item></Accordion>
  <Menu><Menu.Target><Button>Toggle menu</Button></Menu.Target><Menu.Dropdown><Menu.Item onClick={() => { state.menu = 'gallery'; }}>Pictures</Menu.Item></Menu.Dropdown></Menu>
</div></MantineProvider>);
