const order = (ids) => `items.join('') === '${ids}'`;
const after = { after: ['Item 1:focus'] };
export const labels = [
  ['Item 1', '#row-1', 'drag', '#row-2', order('2134')],
  ['Item 1', '#row-1', 'drag', '#row-3', order('2314')],
  ['Item 1', '#row-1', 'drag', '#row-4', order('2341')],
  ['Item 4', '#row-4', 'drag', '#row-1', order('4123')],
  ['Item 3', '#row-3', 'drag', '#row-2', order('1324')],
  ['Item 1', '#row-1', 'focus', null, `document.activeElement.id === 'row-1'`],
  ['Item 1', '#row-1', 'press', 'Space', `document.querySelector('#row-1').getAttribute('aria-pressed') === 'true' || document.querySelector('[id^=DndLiveRegion]')?.textContent.includes('Picked up')`, after],
  ['Drag piece', '#piece', 'drag', '#A', `parent_ === 'A'`],
  ['Drag piece', '#piece', 'drag', '#B', `parent_ === 'B'`],
  ['Drag piece', '#piece', 'drag', '#C', `parent_ === 'C'`],
];
