export const also = '.ant-select-item-option, .ant-select, .ant-select-selector, .ant-rate-star, .ant-collapse-header, .ant-tabs-tab';
export const labels = [
  ['Basic usage', 'input[placeholder="Basic usage"]', 'input', 'hello', `state.text === 'hello'`],
  ['Person', 'input[aria-label=Person]', 'select', 'Yiminghe', `state.person === 'yiminghe'`],
  ['Tags', 'input[aria-label=Tags]', 'select', ['a10', 'c12'], `state.tags === 'a10,c12'`],
  ['Checkbox', '.ant-checkbox-input', 'check', null, 'state.check === true'],
  ['Radio B', '.ant-radio-input @1', 'check', null, 'state.radio === 2'],
  ['Toggle', '.ant-switch', 'check', null, 'state.toggle === true'],
  ['', '.ant-rate-star @3', 'click', null, 'state.rate === 4'],
  ['Amount', '[role=slider]', 'press', 'ArrowRight', 'state.slider === 31'],
  ['Count', 'input[role=spinbutton]', 'input', '7', 'state.count === 7'],
  ['Select date', 'input[placeholder="Select date"]', 'click', null, `document.querySelector('.ant-picker-dropdown') !== null`],
  ['15', '.ant-picker-cell-in-view :: 15', 'click', null, `state.date?.endsWith('-15')`, { after: ['Select date'] }],
  ['Tab 2', '.ant-tabs-tab :: Tab 2', 'click', null, `state.tab === '2'`],
  ['This is panel header 1', '.ant-collapse-header', 'click', null, `state.panel === '1'`],
  ['Open Modal', 'button :: Open Modal', 'click', null, `document.querySelector('[role=dialog]') !== null`],
  ['OK', '[role=dialog] button :: OK', 'click', null, `state.modal === 'ok'`, { after: ['Open Modal'] }],
];
