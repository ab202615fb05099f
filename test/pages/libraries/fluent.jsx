// Fluent UI: the input, choice, slider, dropdown, combobox, tag picker, menu, tree, data grid, swatch and dialog demos of its documentation, and controls in settings rows.
import { Accordion, AccordionHeader, AccordionItem, AccordionPanel, Button, Checkbox, Combobox, createTableColumn, DataGrid, DataGridBody, DataGridCell, DataGridHeader, DataGridHeaderCell, DataGridRow, Dialog, DialogActions, DialogBody, DialogContent, DialogSurface, DialogTitle, DialogTrigger, Dropdown, Field, FluentProvider, Input, InteractionTag, InteractionTagPrimary, InteractionTagSecondary, Label, Menu, MenuButton, MenuItem, MenuItemCheckbox, MenuList, MenuPopover, MenuTrigger, Option, Radio, RadioGroup, Rating, SearchBox, Select, Slider, SpinButton, SwatchPicker, ColorSwatch, Switch, Tab, TabList, TagGroup, TagPicker, TagPickerControl, TagPickerGroup, TagPickerInput, TagPickerList, TagPickerOption, Tag, Text, Textarea, ToggleButton, Toolbar, ToolbarButton, ToolbarToggleButton, Tree, TreeItem, TreeItemLayout, webLightTheme } from '@fluentui/react-components';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
globalThis.state = {};
const checked = (name) => (_, data) => { state[name] = data.checked; };
const value = (name) => (_, data) => { state[name] = data.value; };
const icon = <svg width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor"><path d="M2 8h12" /></svg>;
const animals = ['Cat', 'Dog', 'Ferret', 'Fish', 'Hamster', 'Snake'];
const people = ['John Doe', 'Jane Doe', 'Max Mustermann', 'Erika Mustermann'];
const files = [['Meeting notes', '7h ago'], ['Thursday presentation', 'Yesterday'], ['Training recording', 'Last week']].map(([file, updated]) => ({ file, updated }));
const columns = ['file', 'updated'].map((columnId) => createTableColumn({ columnId, compare: (one, other) => one[columnId].localeCompare(other[columnId]), renderHeaderCell: () => ({ file: 'File', updated: 'Last updated' })[columnId], renderCell: (item) => item[columnId] }));
function People() {
  const [chosen, setChosen] = useState([]);
  return <Field label="Select employees" style={{ maxWidth: 400 }}><TagPicker onOptionSelect={(_, data) => { if (data.value !== 'none') { setChosen(data.selectedOptions); state.people = data.selectedOptions.join(); } }} selectedOptions={chosen}><TagPickerControl><TagPickerGroup aria-label="Selected employees">{chosen.map((one) => <Tag key={one} shape="rounded" value={one}>{one}</Tag>)}</TagPickerGroup><TagPickerInput aria-label="Select employees" /></TagPickerControl><TagPickerList>{people.filter((one) => !chosen.includes(one)).map((one) => <TagPickerOption value={one} key={one}>{one}</TagPickerOption>)}</TagPickerList></TagPicker></Field>;
}
function Tags() {
  const [tags, setTags] = useState(['Urgent', 'Billing']);
  return <TagGroup aria-label="Labels" onDismiss={(_, data) => { setTags(tags.filter((one) => one !== data.value)); state.dismissed = data.value; }}>{tags.map((one) => <InteractionTag value={one} key={one}><InteractionTagPrimary hasSecondaryAction onClick={() => { state.tag = one; }}>{one}</InteractionTagPrimary><InteractionTagSecondary aria-label="remove" /></InteractionTag>)}</TagGroup>;
}
function Stars() {
  const [stars, setStars] = useState(2);
  return <Rating aria-label="Rating" value={stars} onChange={(_, data) => { setStars(data.value); state.rating = data.value; }} />;
}
function Folders() {
  const [chosen, setChosen] = useState([]);
  return <Tree aria-label="Selection" selectionMode="multiselect" checkedItems={chosen} onCheckedChange={(_, data) => { setChosen([...data.checkedItems]); state.checked = `${data.value} ${data.checked}`; }}><TreeItem itemType="leaf" value="inbox"><TreeItemLayout>Inbox folder</TreeItemLayout></TreeItem><TreeItem itemType="leaf" value="archive"><TreeItemLayout>Archive folder</TreeItemLayout></TreeItem></Tree>;
}
const Row = ({ text, hint, children }) => <div style={{ display: 'flex', justifyContent: 'space-between', alignItems: 'center', borderBottom: '1px solid #ddd', padding: '6px 0' }}><div style={{ display: 'flex', flexDirection: 'column' }}><Text>{text}</Text>{hint && <Text size={200}>{hint}</Text>}</div>{children}</div>;
createRoot(main).render(<FluentProvider theme={webLightTheme}><div style={{ display: 'grid', gridTemplateColumns: '400px 440px', gap: '18px 40px', padding: 12 }}>
  <div id="input"><Label htmlFor="first">First name</Label><br /><Input id="first" onChange={value('first')} /></div>
  <div id="area"><Field label="Default Textarea"><Textarea onChange={value('text')} /></Field></div>
  <div id="search"><Field label="Search the store"><SearchBox onChange={value('search')} /></Field></div>
  <div id="spin"><Field label="Quantity"><SpinButton defaultValue={10} min={0} max={20} onChange={(_, data) => { state.quantity = data.value ?? Number(data.displayValue); }} /></Field></div>
  <div id="check"><Checkbox label="Checked by hand" onChange={checked('check')} /><br /><Checkbox label="Required reading" labelPosition="before" onChange={checked('before')} /></div>
  <div id="radio"><Field label="Favorite Fruit"><RadioGroup defaultValue="apple" onChange={value('fruit')}><Radio value="apple" label="Apple" /><Radio value="pear" label="Pear" /><Radio value="banana" label="Banana" /></RadioGroup></Field></div>
  <div id="switch"><Switch label="This is a switch" onChange={checked('switch')} /></div>
  <div id="slider"><Label htmlFor="size">Medium Slider</Label><Slider id="size" defaultValue={20} onChange={value('slider')} /></div>
  <div id="dropdown"><Label id="pet">Best pet</Label><br /><Dropdown aria-labelledby="pet" placeholder="Select an animal" onOptionSelect={(_, data) => { state.pet = data.optionValue; }}>{animals.map((one) => <Option key={one} disabled={one === 'Ferret'}>{one}</Option>)}</Dropdown></div>
  <div id="multiple"><Label id="pets">Best pets</Label><br /><Dropdown aria-labelledby="pets" multiselect placeholder="Select some animals" onOptionSelect={(_, data) => { state.pets = data.selectedOptions.join(); }}>{animals.map((one) => <Option key={one}>{one}</Option>)}</Dropdown></div>
  <div id="combobox"><Label id="companion">Companion</Label><br /><Combobox aria-labelledby="companion" placeholder="Select a companion" onOptionSelect={(_, data) => { state.companion = data.optionValue; }}>{animals.map((one) => <Option key={one}>{one}</Option>)}</Combobox></div>
  <div id="native"><Label htmlFor="color">Color</Label><Select id="color" onChange={value('color')}><option>Red</option><option>Green</option><option>Blue</option></Select></div>
  <div id="picker"><People /></div>
  <div id="rating"><Stars /></div>
  <div id="swatches"><SwatchPicker aria-label="Font color" onSelectionChange={(_, data) => { state.swatch = data.selectedValue; }}>{[['#FF1921', 'red'], ['#FFC12E', 'orange'], ['#00B053', 'green']].map(([color, name]) => <ColorSwatch key={name} color={color} value={name} aria-label={name} />)}</SwatchPicker></div>
  <div id="tags"><Tags /></div>
  <div id="toolbar"><Toolbar aria-label="Default" onCheckedValueChange={(_, data) => { state[data.name] = data.checkedItems.join(); }}><ToolbarButton aria-label="Increase Font Size" icon={icon} onClick={() => { state.font = 'larger'; }} /><ToolbarToggleButton aria-label="Bold" icon={icon} name="style" value="bold" /></Toolbar></div>
  <div id="toggle"><ToggleButton onClick={() => { state.toggle = true; }}>Pin to top</ToggleButton></div>
  <div id="tabs"><TabList defaultSelectedValue="tab1" onTabSelect={value('tab')}><Tab value="tab1">First Tab</Tab><Tab value="tab2">Second Tab</Tab></TabList></div>
  <div id="accordion"><Accordion collapsible onToggle={value('open')}>{['Accordion Header 1', 'Accordion Header 2'].map((text, index) => <AccordionItem key={text} value={String(index + 1)}><AccordionHeader>{text}</AccordionHeader><AccordionPanel>Accordion Panel</AccordionPanel></AccordionItem>)}</Accordion></div>
  <div id="menu"><Menu onCheckedValueChange={(_, data) => { state[data.name] = data.checkedItems.join(); }}><MenuTrigger disableButtonEnhancement><MenuButton>Edit content</MenuButton></MenuTrigger><MenuPopover><MenuList><MenuItem onClick={() => { state.menu = 'new'; }}>New Window</MenuItem><MenuItemCheckbox name="view" value="ruler">Show ruler</MenuItemCheckbox><Menu><MenuTrigger disableButtonEnhancement><MenuItem>Preferences</MenuItem></MenuTrigger><MenuPopover><MenuList><MenuItem onClick={() => { state.menu = 'appearance'; }}>Appearance</MenuItem></MenuList></MenuPopover></Menu></MenuList></MenuPopover></Menu></div>
  <div id="dialog"><Dialog><DialogTrigger disableButtonEnhancement><Button>Open formular</Button></DialogTrigger><DialogSurface><DialogBody><DialogTitle>Dialog title</DialogTitle><DialogContent><Label htmlFor="mail">Email input</Label><Input type="email" id="mail" onChange={value('mail')} /></DialogContent><DialogActions><DialogTrigger disableButtonEnhancement><Button>Close</Button></DialogTrigger><Button appearance="primary" onClick={() => { state.submitted = true; }}>Submit</Button></DialogActions></DialogBody></DialogSurface></Dialog></div>
  <div id="tree"><Tree aria-label="Default" onOpenChange={(_, data) => { state.tree = `${data.value} ${data.open}`; }}><TreeItem itemType="branch" value="one"><TreeItemLayout>level 1, item 1</TreeItemLayout><Tree><TreeItem itemType="leaf" onClick={() => { state.leaf = 'two'; }}><TreeItemLayout>level 2, item 1</TreeItemLayout></TreeItem></Tree></TreeItem></Tree>
    <Folders /></div>
  <div id="grid"><DataGrid items={files} columns={columns} sortable selectionMode="multiselect" getRowId={(item) => item.file} onSortChange={(_, data) => { state.sort = `${data.sortColumn} ${data.sortDirection}`; }} onSelectionChange={(_, data) => { state.rows = [...data.selectedItems].join(); }}><DataGridHeader><DataGridRow selectionCell={{ checkboxIndicator: { 'aria-label': 'Select all rows' } }}>{({ renderHeaderCell }) => <DataGridHeaderCell>{renderHeaderCell()}</DataGridHeaderCell>}</DataGridRow></DataGridHeader><DataGridBody>{({ item, rowId }) => <DataGridRow key={rowId}>{({ renderCell }) => <DataGridCell>{renderCell(item)}</DataGridCell>}</DataGridRow>}</DataGridBody></DataGrid></div>
  <div id="rows"><Row text="Night light" hint="Warmer colors after sunset"><Switch onChange={checked('night')} /></Row><Row text="Speed"><Slider defaultValue={50} onChange={value('speed')} /></Row><Row text="Language"><Dropdown defaultValue="English" defaultSelectedOptions={['English']} onOptionSelect={(_, data) => { state.language = data.optionValue; }}>{['English', 'Deutsch', 'Igbo'].map((one) => <Option key={one}>{one}</Option>)}</Dropdown></Row><Row text="Copies"><SpinButton defaultValue={1} onChange={(_, data) => { state.copies = data.value ?? Number(data.displayValue); }} /></Row></div>
</div></FluentProvider>);
