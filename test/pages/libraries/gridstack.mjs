// gridstack.js: the basic and "nested form" demos of its repository.
import 'gridstack/dist/gridstack.css';
import { GridStack } from 'gridstack';
main.innerHTML = '<div class="grid-stack" style="width:900px;background:#eee"></div>';
globalThis.grid = GridStack.init({ cellHeight: 70, column: 12, animate: false });
grid.load([{ id: 'a', x: 0, y: 0, w: 3, h: 2, content: 'Alpha' }, { id: 'b', x: 4, y: 0, w: 3, h: 2, content: 'Bravo' }, { id: 'c', x: 8, y: 0, w: 3, h: 2, content: 'Charlie' }, { id: 'd', x: 0, y: 3, w: 3, h: 2, content: 'Delta' }]);
for (const node of grid.engine.nodes) { node.el.dataset.id = node.id; if (node.id === 'd') node.el.querySelector('.grid-stack-item-content').innerHTML = 'Delta <button onclick="say(\'pressed\')">Press</button> <label>Note <input id="note"></label>'; }
globalThis.at = (id) => { const { x, y, w, h } = grid.engine.nodes.find((node) => node.id === id); return [x, y, w, h].join(); };
