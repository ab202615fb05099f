export const also = '.irs-handle';
export const labels = [
  ['Price', '.irs-handle', 'input', '700', `price.value === '700'`],
  ['Price', '.irs-handle', 'drag', { by: [100, 0] }, 'Number(price.value) > 550'],
  ['Budget', '.irs-handle.from', 'input', '100', `budget.value === '100;800'`],
  ['Budget', '.irs-handle.to', 'input', '400', `budget.value === '200;400'`],
  ['Month', '.irs-handle.single @1', 'drag', { by: [300, 0] }, `month.value !== 'Apr'`],
];
