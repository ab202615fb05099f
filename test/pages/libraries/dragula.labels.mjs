export const also = '.container > div, .handle';
const order = (id, ids) => `[...document.getElementById('${id}').children].map((one) => one.id).join('') === '${ids}'`;
const inside = (id, container) => `document.getElementById('${id}').parentElement.id === '${container}'`;
export const labels = [
  ['You can move', '#a', 'drag', '#e', inside('a', 'right')],
  ['Moving them', '#b', 'drag', '#d', inside('b', 'right')],
  ['Anything', '#c', 'drag', '#right', inside('c', 'right')],
  ['Drop me', '#e', 'drag', '#b', inside('e', 'left')],
  ['possibility', '#d', 'drag', '#left', inside('d', 'left')],
  ['You can move', '#a', 'drag', '#c', `${order('left', 'bca')}`],
  ['Anything', '#c', 'drag', '#a', order('left', 'cab')],
  ['+', '#f .handle', 'drag', '#g', order('handles', 'gf')],
  ['+', '#g .handle', 'drag', '#f', order('handles', 'gf')],
];
