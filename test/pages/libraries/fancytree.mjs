// Fancytree: the simple demo of its site, with check boxes and keyboard.
import 'jquery.fancytree/dist/skin-win8/ui.fancytree.css';
import './_jquery.mjs';
import 'jquery.fancytree/dist/modules/jquery.fancytree.ui-deps';
import { createTree } from 'jquery.fancytree';
main.innerHTML = '<div id="tree"></div>';
globalThis.tree = createTree('#tree', {
  checkbox: true, autoScroll: true,
  source: [{ title: 'Node 1', key: '1' }, { title: 'Folder 2', key: '2', folder: true, children: [{ title: 'Node 2.1', key: '3' }, { title: 'Node 2.2', key: '4' }] }, { title: 'Folder 5', key: '5', folder: true, expanded: true, children: [{ title: 'Node 5.1', key: '6' }] }, { title: 'Last node', key: '7' }],
  activate: (_, { node }) => say(`active ${node.key}`), dblclick: (_, { node }) => say(`double ${node.key}`),
});
for (const node of tree.rootNode.children) node.span.id = `n${node.key}`;
