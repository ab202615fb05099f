// CodeMirror 5: fromTextArea as its manual shows it, beside an editor of its own and a read-only one.
import 'codemirror/lib/codemirror.css';
import CodeMirror from 'codemirror';
import 'codemirror/mode/javascript/javascript';
main.innerHTML = `<form><textarea id="code" aria-label="Code">var x = 1;</textarea></form><div id="plain"></div><button id="undo">Undo</button>`;
globalThis.editor = CodeMirror.fromTextArea(code, { lineNumbers: true, mode: 'javascript' });
globalThis.plain_ = CodeMirror(document.getElementById('plain'), { value: 'plain text' });
undo.onclick = () => editor.undo();
editor.on('gutterClick', (_, line) => say(`gutter ${line}`));
