// jsTree: the HTML demo with its check box, drag & drop and search plugins.
import 'jstree/dist/themes/default/style.css';
import './_jquery.mjs';
import 'jstree';
main.innerHTML = `<div id="tree"></div><div id="checks"></div>`;
const nodes = [{ id: 'docs', text: 'Documents', state: { opened: true }, children: [{ id: 'cv', text: 'CV.pdf' }, { id: 'letter', text: 'Letter.txt' }] }, { id: 'pics', text: 'Pictures', children: [{ id: 'cat', text: 'cat.png' }] }, { id: 'music', text: 'Music' }];
$('#tree').jstree({ core: { data: nodes, check_callback: true, animation: 0 }, plugins: ['dnd', 'contextmenu'] });
$('#checks').jstree({ core: { data: nodes.map(({ id, text }) => ({ id: `c-${id}`, text: `All ${text}` })), animation: 0 }, plugins: ['checkbox'] });
globalThis.tree = $('#tree').jstree(true);
globalThis.checks = $('#checks').jstree(true);
$('#tree').on('dblclick', '.jstree-anchor', (event) => say(`double ${event.currentTarget.textContent.trim()}`));
$('#tree').on('hover_node.jstree', (_, { node }) => say(`hover ${node.id}`));
