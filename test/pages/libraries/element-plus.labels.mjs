export const also = '.el-select__wrapper, .el-select-dropdown__item, .el-rate__item, .el-slider__runway, .el-input-number__increase, .el-input-number__decrease';
export const labels = [
  ['Please input', 'input[placeholder="Please input"]', 'input', 'hello', `state.text === 'hello'`],
  ['Option', 'input[aria-label=Option]', 'select', 'Option3', `state.value === 'o3'`],
  ['Several', 'input[aria-label=Several]', 'select', ['Item1', 'Item3'], `state.many.join() === 'i1,i3'`],
  ['Option A', '.el-checkbox__original', 'check', null, 'state.check === true'],
  ['Radio 2', '.el-radio__original @1', 'check', null, `state.radio === '2'`],
  ['Delivery', '.el-switch__input', 'check', null, 'state.toggle === true'],
  ['', '.el-slider__button-wrapper', 'press', 'ArrowRight', 'state.volume === 31'],
  ['Amount', '.el-input-number input', 'input', '5', 'Number(state.num) === 5 || document.querySelector(".el-input-number input").value === "5"'],
  ['increase', '.el-input-number__increase', 'click', null, 'state.num === 2'],
  ['', '.el-rate__item @3', 'click', null, 'state.rate === 4'],
  ['Config', '[role=tab] :: Config', 'click', null, `state.tab === 'second'`],
  ['Consistency', '.el-collapse-item__header', 'click', null, `state.open === '1'`],
];
