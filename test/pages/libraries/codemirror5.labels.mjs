const one = 'form .CodeMirror';
const two = '#plain .CodeMirror';
export const also = '.CodeMirror textarea, .CodeMirror-linenumber, .CodeMirror-gutter-elt';
export const labels = [
  ['', one, 'input', 'let y = 2;', `editor.getValue() === 'let y = 2;'`],
  ['', one, 'input', 'function f() {\n  g();\n}', `editor.getValue() === 'function f() {\\n  g();\\n}'`],
  ['', one, 'clear', null, `editor.getValue() === ''`],
  ['', one, 'click', null, 'editor.hasFocus()'],
  ['', one, 'press', 'Control+a', `editor.getSelection() === 'var x = 1;'`, { after: [':click'] }],
  ['', two, 'input', 'other', `plain_.getValue() === 'other'`],
  ['', two, 'focus', null, 'plain_.hasFocus()'],
  ['Undo', '#undo', 'click', null, `editor.getValue() === 'var x = 1;'`, { after: [':clear'] }],
];
