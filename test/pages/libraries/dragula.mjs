// Dragula: the demos of its site: two containers, a handle, and a list that reorders.
import 'dragula/dist/dragula.css';
import dragula from 'dragula';
const css = document.createElement('style');
css.textContent = '.container { display: inline-block; vertical-align: top; width: 260px; min-height: 150px; background: #eee; margin: 8px } .container > div { margin: 8px; padding: 10px; background: #fff; cursor: move }';
document.head.append(css);
main.innerHTML = `<div class="container" id="left"><div id="a">You can move these elements</div><div id="b">Moving them anywhere</div><div id="c">Anything can be moved</div></div><div class="container" id="right"><div id="d">There's also the possibility</div><div id="e">Drop me</div></div>
<div class="container" id="handles"><div id="f"><span class="handle">+</span> Move me by handle</div><div id="g"><span class="handle">+</span> Or me</div></div>`;
globalThis.drake = dragula([left, right]).on('drop', (element, target) => say(`${element.id} ${target.id}`));
dragula([handles], { moves: (element, container, handle) => handle.classList.contains('handle') });
