// PrimeReact: the input, number, selection, date, slider, rating, chip, tab, accordion, dialog, menu, list, tree, table and paginator demos of its documentation.
import 'primereact/resources/themes/lara-light-blue/theme.css';
import { Accordion, AccordionTab } from 'primereact/accordion';
import { PrimeReactProvider } from 'primereact/api';
import { AutoComplete } from 'primereact/autocomplete';
import { Button } from 'primereact/button';
import { Calendar } from 'primereact/calendar';
import { Checkbox } from 'primereact/checkbox';
import { Chip } from 'primereact/chip';
import { Chips } from 'primereact/chips';
import { Column } from 'primereact/column';
import { DataTable } from 'primereact/datatable';
import { Dialog } from 'primereact/dialog';
import { Dropdown } from 'primereact/dropdown';
import { FloatLabel } from 'primereact/floatlabel';
import { InputMask } from 'primereact/inputmask';
import { InputNumber } from 'primereact/inputnumber';
import { InputSwitch } from 'primereact/inputswitch';
import { InputText } from 'primereact/inputtext';
import { InputTextarea } from 'primereact/inputtextarea';
import { ListBox } from 'primereact/listbox';
import { Menu } from 'primereact/menu';
import { MultiSelect } from 'primereact/multiselect';
import { Paginator } from 'primereact/paginator';
import { Panel } from 'primereact/panel';
import { Password } from 'primereact/password';
import { RadioButton } from 'primereact/radiobutton';
import { Rating } from 'primereact/rating';
import { SelectButton } from 'primereact/selectbutton';
import { Slider } from 'primereact/slider';
import { SplitButton } from 'primereact/splitbutton';
import { TabPanel, TabView } from 'primereact/tabview';
import { ToggleButton } from 'primereact/togglebutton';
import { Tree } from 'primereact/tree';
import { useReducer, useRef } from 'react';
import { createRoot } from 'react-dom/client';
globalThis.state = {
  username: '', about: '', quantity: 1, phone: '', secret: '', cheese: false, pizza: 'Mushroom', volume: 20, city: null, cities: [], country: '', tags: [], date: null, rating: 0, payment: 'Off',
  confirmed: false, tab: 0, open: null, visible: false, menu: '', listed: null, selected: null, expanded: {}, rows: [], sort: null, first: 0, chip: true, wifi: false, location: false, stock: { Bamboo: '24', Lamp: '61' },
};
const cities = ['New York', 'Rome', 'London', 'Istanbul', 'Paris'];
const countries = ['Germany', 'Greece', 'Ghana', 'Spain'];
const nodes = [
  { key: '0', label: 'Documents', children: [{ key: '0-0', label: 'Expenses' }] },
  { key: '1', label: 'Events', children: [{ key: '1-0', label: 'Meeting' }] },
];
const products = [{ code: 'f230', name: 'Bamboo Watch', price: 65 }, { code: 'nvk', name: 'Black Watch', price: 72 }, { code: 'zz2', name: 'Blue Band', price: 79 }];
function Page() {
  const [, redraw] = useReducer((count) => count + 1, 0);
  const menu = useRef(null);
  const say = (key, value) => { state[key] = value; redraw(); };
  const bind = (key) => ({ value: state[key], onChange: (event) => say(key, event.target?.value ?? event.value) });
  const command = (label) => ({ label, command: () => say('menu', label) });
  const setting = (key, title, text) => <div style={{ display: 'flex', justifyContent: 'space-between', alignItems: 'center', padding: 8 }}>
    <div><div style={{ fontWeight: 600 }}>{title}</div><small>{text}</small></div><InputSwitch checked={state[key]} onChange={(event) => say(key, event.value)} /></div>;
  return <div style={{ display: 'grid', gridTemplateColumns: '520px 600px', gap: 30, padding: 20 }}>
    <div style={{ display: 'flex', flexDirection: 'column', gap: 24 }}>
      <div><label htmlFor="username">Username</label><br /><InputText id="username" {...bind('username')} /></div>
      <FloatLabel><InputTextarea id="about" rows={3} {...bind('about')} /><label htmlFor="about">About you</label></FloatLabel>
      <div><label htmlFor="stacked">Stacked</label><br /><InputNumber inputId="stacked" value={state.quantity} onValueChange={(event) => say('quantity', event.value)} showButtons min={0} max={100} /></div>
      <div><label htmlFor="phone">Phone</label><br /><InputMask id="phone" mask="(999) 999-9999" placeholder="(999) 999-9999" {...bind('phone')} /></div>
      <FloatLabel><Password inputId="password" toggleMask feedback={false} {...bind('secret')} /><label htmlFor="password">Password</label></FloatLabel>
      <div><Checkbox inputId="cheese" checked={state.cheese} onChange={(event) => say('cheese', event.checked)} /><label htmlFor="cheese"> Cheese</label></div>
      <div>{['Mushroom', 'Pepper'].map((one) => <span key={one}><RadioButton inputId={one} name="pizza" value={one} checked={state.pizza === one} onChange={(event) => say('pizza', event.value)} /><label htmlFor={one}> {one} </label></span>)}</div>
      <div><div>Brightness</div><Slider value={state.volume} onChange={(event) => say('volume', event.value)} /></div>
      <FloatLabel><Dropdown inputId="city" options={cities} style={{ width: 260 }} {...bind('city')} /><label htmlFor="city">Select a City</label></FloatLabel>
      <MultiSelect options={cities} placeholder="Select Cities" style={{ width: 260 }} {...bind('cities')} />
      <FloatLabel><AutoComplete inputId="country" suggestions={state.found ?? []} completeMethod={(event) => say('found', countries.filter((one) => one.toLowerCase().startsWith(event.query.toLowerCase())))} dropdown {...bind('country')} /><label htmlFor="country">Country</label></FloatLabel>
      <div><label htmlFor="skills">Skills</label><br /><Chips inputId="skills" {...bind('tags')} /></div>
      <div><label htmlFor="birthday">Birthday</label><br /><Calendar inputId="birthday" showIcon viewDate={new Date(2026, 4, 1)} {...bind('date')} /></div>
      <Rating cancel={false} {...bind('rating')} />
      <SelectButton options={['Off', 'On', 'Auto']} {...bind('payment')} />
      <ToggleButton onLabel="Confirmed" offLabel="Not confirmed" checked={state.confirmed} onChange={(event) => say('confirmed', event.value)} />
      {state.chip ? <div><Chip label="Amy Elsner" removable onRemove={() => { state.chip = false; return true; }} /></div> : null}
    </div>
    <div style={{ display: 'flex', flexDirection: 'column', gap: 16 }}>
      <TabView activeIndex={state.tab} onTabChange={(event) => say('tab', event.index)}><TabPanel header="Header I">First</TabPanel><TabPanel header="Header II">Second</TabPanel></TabView>
      <Accordion activeIndex={state.open} onTabChange={(event) => say('open', event.index)}><AccordionTab header="Shipping">By post</AccordionTab><AccordionTab header="Returns">In 30 days</AccordionTab></Accordion>
      <Panel header="Details" toggleable collapsed={state.collapsed ?? false} onToggle={(event) => say('collapsed', event.value)}>Some text</Panel>
      <div style={{ display: 'flex', gap: 10 }}>
        <Button label="Show" onClick={() => say('visible', true)} /><Button label="Menu" onClick={(event) => menu.current.toggle(event)} /><Menu model={[command('Refresh'), command('Export')]} popup ref={menu} />
        <SplitButton label="Save" menuButtonProps={{ 'aria-label': 'More Options' }} onClick={() => say('menu', 'saved')} model={[command('Update'), command('Delete')]} />
      </div>
      <Dialog header="Edit profile" visible={state.visible} style={{ width: 400 }} onHide={() => say('visible', false)} footer={<Button label="Yes" onClick={() => { state.answer = 'yes'; say('visible', false); }} />}>Keep the changes?</Dialog>
      <ListBox options={cities} style={{ width: 260 }} {...bind('listed')} />
      <div>{setting('wifi', 'Wi-Fi', 'Connect to known networks')}{setting('location', 'Location', 'Share where you are')}</div>
      <Tree value={nodes} selectionMode="checkbox" selectionKeys={state.selected} onSelectionChange={(event) => say('selected', event.value)} expandedKeys={state.expanded} onToggle={(event) => say('expanded', event.value)} />
      <DataTable value={products} dataKey="code" selectionMode="checkbox" selection={state.rows} onSelectionChange={(event) => say('rows', event.value)} sortField={state.sort} sortOrder={1} onSort={(event) => say('sort', event.sortField)}>
        <Column selectionMode="multiple" /><Column field="name" header="Name" sortable /><Column field="price" header="Price" sortable /></DataTable>
      <DataTable value={Object.keys(state.stock).map((item) => ({ item }))}><Column field="item" header="Item" />
        <Column header="In stock" body={({ item }) => <InputText defaultValue={state.stock[item]} onChange={(event) => { state.stock[item] = event.target.value; }} />} /></DataTable>
      <Paginator first={state.first} rows={10} totalRecords={60} onPageChange={(event) => say('first', event.first)} />
    </div>
  </div>;
}
createRoot(main).render(<PrimeReactProvider><Page /></PrimeReactProvider>);
