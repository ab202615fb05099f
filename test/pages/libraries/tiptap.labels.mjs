const button = (name) => `#tools button :: ${name}`;
const editor = '.tiptap.ProseMirror';
export const labels = [
  ['', editor, 'input', 'A new text', `editor.getText() === 'A new text'`],
  ['', editor, 'clear', null, `editor.getText() === ''`],
  ['', editor, 'focus', null, 'editor.isFocused'],
  ['', editor, 'press', 'Control+b', `editor.isActive('bold')`, { after: [':focus'] }],
  ['H1', button('H1'), 'click', null, `editor.isActive('heading')`],
  ['Bullet list', button('Bullet list'), 'click', null, `editor.isActive('bulletList')`],
  ['Ordered list', button('Ordered list'), 'click', null, `editor.isActive('orderedList')`],
  ['Blockquote', button('Blockquote'), 'click', null, `editor.isActive('blockquote')`],
  ['Bold', button('Bold'), 'click', null, `editor.isActive('bold')`],
  ['Italic', button('Italic'), 'click', null, `editor.isActive('italic')`],
  ['Undo', button('Undo'), 'click', null, `editor.getText() === 'Hello World!'`, { after: [':clear'] }],
];
