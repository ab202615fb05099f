const one = '#editor';
const two = '#other';
export const also = '.ace_text-input, .ace_gutter-cell, .ace_scrollbar';
export const labels = [
  ['', one, 'input', 'let x = 1;', `editor.getValue() === 'let x = 1;'`],
  ['', one, 'input', 'if (a) {\n  b();\n}', `editor.getValue() === 'if (a) {\\n  b();\\n}'`],
  ['', one, 'clear', null, `editor.getValue() === ''`],
  ['', one, 'click', null, 'editor.isFocused()'],
  ['', one, 'press', 'Control+f', `document.querySelector('.ace_search')?.checkVisibility() === true`, { after: [':click'] }],
  ['', '.ace_search_field', 'input', 'items', `document.querySelector('.ace_search_field').value === 'items'`, { after: [':press'] }],
  ['', two, 'input', 'two', `second.getValue() === 'two'`],
  ['', two, 'focus', null, 'second.isFocused()'],
  ['Toggle wrap', '#wrap', 'click', null, `editor.getOption('wrap') !== 'off'`],
];
