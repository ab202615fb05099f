const item = (id) => `[data-id=${id}] .grid-stack-item-content`;
const corner = (id) => `[data-id=${id}] .ui-resizable-se`;
export const also = '.grid-stack-item, .grid-stack-item-content, .ui-resizable-handle';
export const labels = [
  ['Alpha', item('a'), 'drag', '[data-id=d]', `at('a') !== '0,0,3,2'`],
  ['Bravo', item('b'), 'drag', '[data-id=c]', `Number(at('b').split(',')[0]) > 4`],
  ['Charlie', item('c'), 'drag', '[data-id=a]', `Number(at('c').split(',')[0]) < 4`],
  ['Delta', item('d'), 'drag', '[data-id=c]', `Number(at('d').split(',')[0]) > 4`],
  // The handles are shown while the mouse is over the item, as its option alwaysShowResizeHandle says.
  ['Alpha', item('a'), 'hover', null, `document.querySelector("${corner('a')}").checkVisibility()`],
  ['Bravo', item('b'), 'hover', null, `document.querySelector("${corner('b')}").checkVisibility()`],
  ['', corner('a'), 'drag', '[data-id=d] button', `at('a').split(',')[3] > 2`, { after: ['Alpha:hover'] }],
  ['', corner('b'), 'drag', { by: [75, 70] }, `at('b') === '4,0,4,3'`, { after: ['Bravo:hover'] }],
  ['Press', '[data-id=d] button', 'click', null, `heard.includes('pressed')`],
  ['Note', '#note', 'input', 'hello', `note.value === 'hello'`],
];
