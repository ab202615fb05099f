// Ace: the embedding example of its site, with two editors.
import ace from 'ace-builds/src-noconflict/ace';
import 'ace-builds/src-noconflict/ext-searchbox';
main.innerHTML = `<h2>First</h2><div id="editor" style="width:600px;height:160px">function foo(items) {\n    return items;\n}</div><h2>Second</h2><div id="other" style="width:600px;height:120px">plain</div><button id="wrap">Toggle wrap</button>`;
globalThis.editor = ace.edit('editor', { useWorker: false, copyWithEmptySelection: true });
globalThis.second = ace.edit('other', { useWorker: false });
document.getElementById('editor').querySelector('textarea').setAttribute('aria-label', 'Code');
wrap.onclick = () => editor.setOption('wrap', editor.getOption('wrap') === 'off');
