// Tiptap: the default editor example of its documentation, with a plain toolbar.
import { Editor } from '@tiptap/core';
import StarterKit from '@tiptap/starter-kit';
const tools = { Bold: 'toggleBold', Italic: 'toggleItalic', Strike: 'toggleStrike', Code: 'toggleCode', 'H1': ['toggleHeading', { level: 1 }], 'Bullet list': 'toggleBulletList', 'Ordered list': 'toggleOrderedList', Blockquote: 'toggleBlockquote', Undo: 'undo' };
main.innerHTML = `<div id="tools">${Object.keys(tools).map((name) => `<button>${name}</button>`).join('')}</div><div id="element"></div>`;
globalThis.editor = new Editor({ element, extensions: [StarterKit], content: '<p>Hello World!</p>' });
for (const button of tools_()) {
  const [command, options] = [tools[button.textContent]].flat();
  button.onclick = () => editor.chain().focus()[command](options).run();
}
function tools_() { return document.querySelectorAll('#tools button'); }
