const item = (id) => `#${id} .content`;
export const also = '.item, .content';
export const labels = [
  ['One', item('One'), 'drag', '#Two', `order(0) === 'Two,One,Three,Four'`],
  ['One', item('One'), 'drag', '#Three', `order(0) === 'Two,Three,One,Four'`],
  ['One', item('One'), 'drag', '#Four', `order(0) === 'Two,Three,Four,One'`],
  ['Four', item('Four'), 'drag', '#One', `order(0) === 'Four,One,Two,Three'`],
  ['Three', item('Three'), 'drag', '#Two', `order(0) === 'One,Three,Two,Four'`],
  ['Six', item('Six'), 'drag', '#Five', `order(1) === 'Six,Five,Seven'`],
  ['Seven', item('Seven'), 'drag', '#Five', `order(1) === 'Seven,Five,Six'`],
  ['Two', item('Two'), 'drag', '#Six', `order(1).includes('Two')`],
];
