// Wunderbaum: the plain tree of its demo, with check boxes.
import 'wunderbaum/dist/wunderbaum.css';
import { Wunderbaum } from 'wunderbaum';
main.innerHTML = '<div id="demo-tree" style="height:300px;width:400px"></div>';
globalThis.tree = new Wunderbaum({
  element: document.getElementById('demo-tree'), checkbox: true, iconMap: 'bootstrap',
  source: [{ title: 'Node 1', key: '1' }, { title: 'Node 2', key: '2', expanded: true, children: [{ title: 'Node 2.1', key: '3' }, { title: 'Node 2.2', key: '4' }] }, { title: 'Node 3', key: '5', children: [{ title: 'Node 3.1', key: '6' }] }, { title: 'Node 4', key: '7' }],
  activate: ({ node }) => say(`active ${node.key}`), dblclick: ({ node }) => say(`double ${node.key}`),
});
