// Ant Design: the input, select, check box, radio, switch, rate, slider, number, collapse, tabs and date picker demos of its site.
import { Button, Checkbox, Collapse, DatePicker, Input, InputNumber, Modal, Radio, Rate, Select, Slider, Switch, Tabs } from 'antd';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
globalThis.state = {};
const keep = (name) => (value) => { state[name] = value; };
function Demo() {
  const [open, setOpen] = useState(false);
  return <div style={{ width: 600 }}>
    <Input placeholder="Basic usage" onChange={(event) => { state.text = event.target.value; }} />
    <Select aria-label="Person" defaultValue="lucy" style={{ width: 160 }} onChange={keep('person')} options={['jack', 'lucy', 'yiminghe'].map((value) => ({ value, label: value[0].toUpperCase() + value.slice(1) }))} />
    <Select aria-label="Tags" mode="multiple" style={{ width: 300 }} placeholder="Please select" onChange={(value) => { state.tags = value.join(); }} options={['a10', 'b11', 'c12'].map((value) => ({ value, label: value }))} />
    <Checkbox onChange={(event) => { state.check = event.target.checked; }}>Checkbox</Checkbox>
    <Radio.Group onChange={(event) => { state.radio = event.target.value; }} options={[{ value: 1, label: 'Radio A' }, { value: 2, label: 'Radio B' }]} />
    <Switch aria-label="Toggle" onChange={keep('toggle')} /><Rate onChange={keep('rate')} />
    <Slider defaultValue={30} ariaLabelForHandle="Amount" onChange={keep('slider')} /><InputNumber aria-label="Count" min={1} max={10} defaultValue={3} onChange={keep('count')} />
    <DatePicker placeholder="Select date" onChange={(_, text) => { state.date = text; }} />
    <Tabs onChange={keep('tab')} items={[{ key: '1', label: 'Tab 1' }, { key: '2', label: 'Tab 2' }]} /><Collapse onChange={(keys) => { state.panel = keys.join(); }} items={[{ key: '1', label: 'This is panel header 1', children: 'dog' }]} />
    <Button type="primary" onClick={() => setOpen(true)}>Open Modal</Button><Modal title="Basic Modal" open={open} onOk={() => { state.modal = 'ok'; setOpen(false); }} onCancel={() => setOpen(false)}>Some contents</Modal>
  </div>;
}
createRoot(main).render(<Demo />);
