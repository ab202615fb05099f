// Base UI: the form, number field, select, combobox, slider, menu, dialog, tabs and toolbar demos of its documentation, and controls in settings rows.
import { Accordion } from '@base-ui/react/accordion';
import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Autocomplete } from '@base-ui/react/autocomplete';
import { Checkbox } from '@base-ui/react/checkbox';
import { CheckboxGroup } from '@base-ui/react/checkbox-group';
import { Collapsible } from '@base-ui/react/collapsible';
import { Combobox } from '@base-ui/react/combobox';
import { ContextMenu } from '@base-ui/react/context-menu';
import { Field } from '@base-ui/react/field';
import { Menu } from '@base-ui/react/menu';
import { NumberField } from '@base-ui/react/number-field';
import { OTPField } from '@base-ui/react/otp-field';
import { Radio } from '@base-ui/react/radio';
import { RadioGroup } from '@base-ui/react/radio-group';
import { Select } from '@base-ui/react/select';
import { Slider } from '@base-ui/react/slider';
import { Switch } from '@base-ui/react/switch';
import { Tabs } from '@base-ui/react/tabs';
import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import { createRoot } from 'react-dom/client';
globalThis.state = {};
const keep = (name) => (value) => { state[name] = value; };
// The library has no style of its own; this is that of its demos, in short.
const css = `
  #main { display: grid; grid-template-columns: 380px 420px; gap: 14px 60px; padding: 12px; font: 14px sans-serif; isolation: isolate; align-items: start }
  .popup { background: #fff; border: 1px solid #000; min-width: 160px; max-height: 260px; overflow: auto; outline: 0 }
  .item { display: flex; gap: 8px; padding: 6px 14px; cursor: default; user-select: none; outline: 0 }
  .check { display: flex; width: 18px; height: 18px; border: 1px solid #000; align-items: center; justify-content: center; box-sizing: border-box }
  .check[data-checked] { background: #000; color: #fff }
  .round { border-radius: 100% }
  .switch { display: flex; width: 40px; height: 22px; background: #bbb; border-radius: 20px; padding: 0; border: 0 } .switch[data-checked] { background: #000 }
  .thumb { width: 20px; height: 20px; margin: 1px; border-radius: 20px; background: #fff; transition: translate 100ms } .thumb[data-checked] { translate: 18px 0 }
  label.line { display: flex; gap: 8px; align-items: center; padding: 3px 0 }
  .row { display: flex; justify-content: space-between; align-items: center; border-bottom: 1px solid #ddd; padding: 8px 0 }
  .control { display: flex; width: 220px; padding: 10px 0; touch-action: none } .track { width: 100%; height: 4px; background: #ccc } .indicator { background: #000 } .knob { width: 14px; height: 14px; background: #fff; outline: 1px solid #000; border-radius: 100% }
  .group, .chips { display: flex; gap: 4px; flex-wrap: wrap } .group input { width: 60px } .chip { display: flex; background: #eee }
  .backdrop { position: fixed; inset: 0; background: #0003 } .dialog { position: fixed; top: 30%; left: 30%; background: #fff; border: 1px solid #000; padding: 16px }
  .area { border: 1px dashed #888; padding: 20px; user-select: none } .trigger { display: inline-flex; gap: 12px; min-width: 140px; justify-content: space-between }`;
const icon = (path) => <svg width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor"><path d={path} /></svg>;
const [tick, down, plus, minus, cross] = ['m2.5 8.5 4 4 7-9', 'M3 6l5 5 5-5', 'M1.5 8h13M8 14.5v-13', 'M1.5 8h13', 'm4.5 4.5 7 7m-7 0 7-7'].map(icon);
const apples = ['Gala', 'Fuji', 'Honeycrisp', 'Granny Smith', 'Pink Lady'].map((label) => ({ label, value: label.toLowerCase().replace(' ', '-') }));
const themes = ['System', 'Light', 'Dark'].map((label) => ({ label, value: label.toLowerCase() }));
const fruits = ['Apple', 'Banana', 'Orange', 'Pineapple', 'Grape', 'Mango', 'Cherry', 'Peach', 'Pear', 'Plum', 'Kiwi', 'Papaya', 'Guava', 'Apricot'].map((label) => ({ label, value: label.toLowerCase() }));
const languages = ['JavaScript', 'TypeScript', 'Python', 'Java', 'C++', 'Go'].map((value) => ({ id: value, value }));
const tags = ['feature', 'fix', 'bug', 'docs', 'internal', 'mobile', 'component: accordion', 'component: avatar'].map((value) => ({ id: value, value }));
const Tick = ({ of: Box, text, name, ...more }) => <label className="line"><Box className="check" onCheckedChange={keep(name)} {...more}><Checkbox.Indicator>{tick}</Checkbox.Indicator></Box>{text}</label>;
const Toggler = ({ name, ...more }) => <Switch.Root className="switch" onCheckedChange={keep(name)} {...more}><Switch.Thumb className="thumb" /></Switch.Root>;
const Options = ({ items, children, placeholder, ...more }) => <Select.Root items={items} {...more}>{children}
  <Select.Trigger className="trigger"><Select.Value placeholder={placeholder} /><Select.Icon>{down}</Select.Icon></Select.Trigger>
  <Select.Portal><Select.Positioner sideOffset={4}><Select.Popup className="popup"><Select.List>{items.map(({ label, value }) => <Select.Item key={value} value={value} className="item"><Select.ItemIndicator>{tick}</Select.ItemIndicator><Select.ItemText>{label}</Select.ItemText></Select.Item>)}</Select.List></Select.Popup></Select.Positioner></Select.Portal></Select.Root>;
const Amount = ({ id, label, name, value }) => <NumberField.Root id={id} defaultValue={value} min={0} max={500} onValueChange={keep(name)}>{label && <NumberField.ScrubArea style={{ cursor: 'ew-resize' }}><label htmlFor={id}>{label}</label><NumberField.ScrubAreaCursor>{down}</NumberField.ScrubAreaCursor></NumberField.ScrubArea>}
  <NumberField.Group className="group"><NumberField.Decrement>{minus}</NumberField.Decrement><NumberField.Input /><NumberField.Increment>{plus}</NumberField.Increment></NumberField.Group></NumberField.Root>;
const Range = ({ name, thumb, ...more }) => <Slider.Root onValueChange={keep(name)} {...more}><Slider.Control className="control"><Slider.Track className="track"><Slider.Indicator className="indicator" /><Slider.Thumb className="knob" aria-label={thumb} /></Slider.Track></Slider.Control></Slider.Root>;
const Popup = ({ of: Part, children }) => <Part.Portal><Part.Positioner sideOffset={4}><Part.Popup className="popup">{children}</Part.Popup></Part.Positioner></Part.Portal>;
const Entry = ({ of: Part = Menu, children }) => <Part.Item className="item" onClick={() => { state.menu = children; }}>{children}</Part.Item>;
createRoot(main).render(<><style>{css}</style>
  <Field.Root id="field"><Field.Label>Name</Field.Label><Field.Control required placeholder="Required" onValueChange={keep('name')} /><Field.Error match="valueMissing">Please enter your name</Field.Error></Field.Root>
  <div id="number"><Amount id="amount" label="Amount" name="amount" value={100} /></div>
  <div id="check"><Tick of={Checkbox.Root} text="Enable notifications" name="notifications" /></div>
  <div id="group"><CheckboxGroup aria-labelledby="protocols" defaultValue={['https']} onValueChange={(value) => { state.protocols = value.join(); }}><div id="protocols">Allowed network protocols</div>{['HTTP', 'HTTPS', 'SSH'].map((text) => <Tick key={text} of={Checkbox.Root} text={text} value={text.toLowerCase()} />)}</CheckboxGroup></div>
  <div id="radio"><RadioGroup aria-labelledby="best" defaultValue="fuji-apple" onValueChange={keep('best')}><div id="best">Best apple</div>{['Fuji', 'Gala', 'Granny Smith'].map((text) => <label className="line" key={text}><Radio.Root value={`${text.toLowerCase().replace(' ', '-')}-apple`} className="check round"><Radio.Indicator>•</Radio.Indicator></Radio.Root>{text}</label>)}</RadioGroup></div>
  <div id="switch"><label className="line"><Toggler name="marketing" defaultChecked />Marketing emails</label></div>
  <div id="slider"><Range name="volume" thumb="Volume" defaultValue={25} /></div>
  <div id="labelled"><Slider.Root defaultValue={[20, 80]} onValueChange={(value) => { state.price = value.join(); }}><Slider.Label>Price range</Slider.Label> <Slider.Value /><Slider.Control className="control"><Slider.Track className="track"><Slider.Indicator className="indicator" /><Slider.Thumb index={0} aria-label="Minimum price" className="knob" /><Slider.Thumb index={1} aria-label="Maximum price" className="knob" /></Slider.Track></Slider.Control></Slider.Root></div>
  <div id="select"><Options items={apples} placeholder="Select apple" onValueChange={keep('apple')}><Select.Label>Apple</Select.Label></Options></div>
  <div id="combobox"><Combobox.Root items={fruits} onValueChange={(item) => { state.fruit = item?.value; }}><label htmlFor="fruit">Choose a fruit</label><Combobox.InputGroup className="chips"><Combobox.Input id="fruit" placeholder="e.g. Apple" /><Combobox.Clear aria-label="Clear selection">{cross}</Combobox.Clear><Combobox.Trigger aria-label="Open popup">{down}</Combobox.Trigger></Combobox.InputGroup>
    <Popup of={Combobox}><Combobox.Empty>No fruits found.</Combobox.Empty><Combobox.List>{(item) => <Combobox.Item key={item.value} value={item} className="item"><Combobox.ItemIndicator>{tick}</Combobox.ItemIndicator><span>{item.label}</span></Combobox.Item>}</Combobox.List></Popup></Combobox.Root></div>
  <div id="multiple"><Combobox.Root items={languages} multiple onValueChange={(items) => { state.languages = items.map(({ value }) => value).join(); }}><label htmlFor="languages">Programming languages</label>
    <Combobox.InputGroup><Combobox.Chips className="chips"><Combobox.Value>{(value) => <>{value.map((one) => <Combobox.Chip key={one.id} className="chip" aria-label={one.value}>{one.value}<Combobox.ChipRemove aria-label="Remove">{cross}</Combobox.ChipRemove></Combobox.Chip>)}<Combobox.Input id="languages" placeholder={value.length > 0 ? '' : 'e.g. TypeScript'} /></>}</Combobox.Value></Combobox.Chips></Combobox.InputGroup>
    <Popup of={Combobox}><Combobox.Empty>No languages found.</Combobox.Empty><Combobox.List>{(one) => <Combobox.Item key={one.id} value={one} className="item"><Combobox.ItemIndicator>{tick}</Combobox.ItemIndicator><span>{one.value}</span></Combobox.Item>}</Combobox.List></Popup></Combobox.Root></div>
  <div id="autocomplete"><Autocomplete.Root items={tags} onValueChange={keep('tag')}><label>Search tags <Autocomplete.Input placeholder="e.g. feature" /></label><Popup of={Autocomplete}><Autocomplete.Empty>No tags found.</Autocomplete.Empty><Autocomplete.List>{(tag) => <Autocomplete.Item key={tag.id} value={tag} className="item">{tag.value}</Autocomplete.Item>}</Autocomplete.List></Popup></Autocomplete.Root></div>
  <div id="otp"><label htmlFor="code">Verification code</label><OTPField.Root id="code" length={6} className="chips" onValueChange={keep('code')}>{[1, 2, 3, 4, 5, 6].map((at) => <OTPField.Input key={at} style={{ width: 24 }} aria-label={at === 1 ? undefined : `Character ${at} of 6`} />)}</OTPField.Root></div>
  <div id="toggle"><ToggleGroup aria-label="Text alignment" defaultValue={['left']} className="chips" onValueChange={(value) => { state.align = value.join(); }}>{['left', 'center', 'right'].map((side) => <Toggle key={side} value={side} aria-label={`Align ${side}`}>{icon('M2.5 4.5h11m-11 7h9M2.5 8h5')}</Toggle>)}</ToggleGroup></div>
  <div id="menu"><Menu.Root><Menu.Trigger>Song {down}</Menu.Trigger><Popup of={Menu}><Entry>Add to Library</Entry><Entry>Add to Playlist</Entry><Menu.CheckboxItem className="item" onCheckedChange={keep('shuffle')}><Menu.CheckboxItemIndicator>{tick}</Menu.CheckboxItemIndicator>Shuffle</Menu.CheckboxItem><Menu.SubmenuRoot><Menu.SubmenuTrigger className="item">Export {down}</Menu.SubmenuTrigger><Popup of={Menu}><Entry>PDF</Entry><Entry>PNG</Entry></Popup></Menu.SubmenuRoot></Popup></Menu.Root></div>
  <div id="tabs"><Tabs.Root defaultValue="overview" onValueChange={keep('tab')}><Tabs.List><Tabs.Tab value="overview">Overview</Tabs.Tab><Tabs.Tab value="projects">Projects</Tabs.Tab></Tabs.List><Tabs.Panel value="overview">Workspace stats and activity.</Tabs.Panel><Tabs.Panel value="projects">Milestones and deadlines.</Tabs.Panel></Tabs.Root></div>
  <div id="accordion"><Accordion.Root onValueChange={(value) => { state.open = value.join(); }}>{['What is Base UI?', 'How do I get started?'].map((text, index) => <Accordion.Item key={text} value={`item-${index}`}><Accordion.Header><Accordion.Trigger>{text} {plus}</Accordion.Trigger></Accordion.Header><Accordion.Panel>Head to the quick start guide.</Accordion.Panel></Accordion.Item>)}</Accordion.Root></div>
  <div id="collapsible"><Collapsible.Root onOpenChange={keep('keys')}><Collapsible.Trigger>Recovery keys</Collapsible.Trigger><Collapsible.Panel>alien-bean-pasta</Collapsible.Panel></Collapsible.Root></div>
  <div id="dialog"><AlertDialog.Root onOpenChange={keep('dialog')}><AlertDialog.Trigger>Discard draft</AlertDialog.Trigger><AlertDialog.Portal><AlertDialog.Backdrop className="backdrop" /><AlertDialog.Popup className="dialog"><AlertDialog.Title>Discard draft?</AlertDialog.Title><AlertDialog.Description>You can’t undo this action.</AlertDialog.Description><AlertDialog.Close>Cancel</AlertDialog.Close><AlertDialog.Close onClick={() => { state.discarded = true; }}>Discard</AlertDialog.Close></AlertDialog.Popup></AlertDialog.Portal></AlertDialog.Root></div>
  <div id="context"><ContextMenu.Root><ContextMenu.Trigger className="area">Right click here</ContextMenu.Trigger><Popup of={ContextMenu}><Entry of={ContextMenu}>Add to Favorites</Entry><Entry of={ContextMenu}>Share</Entry></Popup></ContextMenu.Root></div>
  <div id="rows"><div className="row"><div><div>Bluetooth</div><small>Find devices nearby</small></div><Toggler name="bluetooth" /></div><div className="row"><span>Brightness</span><Range name="brightness" defaultValue={60} /></div><div className="row"><span>Theme</span><Options items={themes} defaultValue="system" onValueChange={keep('theme')} /></div></div>
  <table id="cells"><thead><tr><th>Product</th><th>Quantity</th><th>Gift</th></tr></thead><tbody><tr><td>Teapot</td><td><Amount name="teapots" value={2} /></td><td><Checkbox.Root className="check" onCheckedChange={keep('gift')}><Checkbox.Indicator>{tick}</Checkbox.Indicator></Checkbox.Root></td></tr></tbody></table>
</>);
