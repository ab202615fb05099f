// Radix Primitives: the check box, switch, select, slider, tabs, accordion, dialog, menu, toggle and radio group demos of its documentation.
import { Accordion, Checkbox, Dialog, DropdownMenu, RadioGroup, Select, Slider, Switch, Tabs, Toggle } from 'radix-ui';
import { createRoot } from 'react-dom/client';
globalThis.state = {};
const keep = (name) => (value) => { state[name] = value; };
const square = { width: 24, height: 24 };
createRoot(main).render(<>
  <p><Checkbox.Root id="c1" style={square} onCheckedChange={keep('check')}><Checkbox.Indicator>✓</Checkbox.Indicator></Checkbox.Root><label htmlFor="c1">Accept terms and conditions.</label></p>
  <p><label htmlFor="air">Airplane mode</label><Switch.Root id="air" style={{ width: 42, height: 25 }} onCheckedChange={keep('air')}><Switch.Thumb /></Switch.Root></p>
  <Select.Root onValueChange={keep('food')}><Select.Trigger aria-label="Food"><Select.Value placeholder="Select a fruit" /></Select.Trigger><Select.Portal><Select.Content style={{ background: '#fff' }}><Select.Viewport>{['Apple', 'Banana', 'Grapes'].map((name) => <Select.Item key={name} value={name}><Select.ItemText>{name}</Select.ItemText></Select.Item>)}</Select.Viewport></Select.Content></Select.Portal></Select.Root>
  <Slider.Root defaultValue={[50]} max={100} step={1} style={{ position: 'relative', display: 'flex', alignItems: 'center', width: 200, height: 20 }} onValueChange={([value]) => { state.volume = value; }}><Slider.Track style={{ background: '#ccc', flexGrow: 1, height: 3 }}><Slider.Range /></Slider.Track><Slider.Thumb aria-label="Volume" style={{ display: 'block', width: 20, height: 20, background: '#333' }} /></Slider.Root>
  <Tabs.Root defaultValue="tab1" onValueChange={keep('tab')}><Tabs.List aria-label="Manage your account"><Tabs.Trigger value="tab1">Account</Tabs.Trigger><Tabs.Trigger value="tab2">Password</Tabs.Trigger></Tabs.List></Tabs.Root>
  <Accordion.Root type="single" collapsible onValueChange={keep('open')}><Accordion.Item value="item-1"><Accordion.Header><Accordion.Trigger>Is it accessible?</Accordion.Trigger></Accordion.Header><Accordion.Content>Yes.</Accordion.Content></Accordion.Item></Accordion.Root>
  <Toggle.Root aria-label="Toggle italic" onPressedChange={keep('italic')}>I</Toggle.Root>
  <RadioGroup.Root aria-label="View density" onValueChange={keep('density')}><RadioGroup.Item value="default" id="r1" style={square}><RadioGroup.Indicator /></RadioGroup.Item><label htmlFor="r1">Default</label><RadioGroup.Item value="compact" id="r2" style={square}><RadioGroup.Indicator /></RadioGroup.Item><label htmlFor="r2">Compact</label></RadioGroup.Root>
  <Dialog.Root><Dialog.Trigger>Edit profile</Dialog.Trigger><Dialog.Portal><Dialog.Overlay style={{ position: 'fixed', inset: 0 }} /><Dialog.Content aria-describedby={undefined} style={{ position: 'fixed', top: 100, left: 100, background: '#fff' }}><Dialog.Title>Edit profile</Dialog.Title><label>Name <input id="who" onChange={(event) => { state.who = event.target.value; }} /></label><Dialog.Close onClick={() => { state.saved = true; }}>Save changes</Dialog.Close></Dialog.Content></Dialog.Portal></Dialog.Root>
  <DropdownMenu.Root><DropdownMenu.Trigger aria-label="Customise options">☰</DropdownMenu.Trigger><DropdownMenu.Portal><DropdownMenu.Content style={{ background: '#fff' }}><DropdownMenu.Item onSelect={() => { state.menu = 'tab'; }}>New Tab</DropdownMenu.Item><DropdownMenu.CheckboxItem onCheckedChange={keep('bookmarks')}>Show Bookmarks</DropdownMenu.CheckboxItem></DropdownMenu.Content></DropdownMenu.Portal></DropdownMenu.Root>
</>);
