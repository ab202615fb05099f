export const also = '.fancytree-node, .fancytree-title, .fancytree-expander, .fancytree-checkbox, .fancytree-icon, [role=treeitem]';
const title = (text) => `.fancytree-title :: ${text}`;
export const labels = [
  ['Node 1', title('Node 1'), 'click', null, `tree.getActiveNode()?.key === '1'`],
  ['Folder 2', title('Folder 2'), 'click', null, `tree.getActiveNode()?.key === '2'`],
  ['Node 5.1', title('Node 5.1'), 'click', null, `tree.getActiveNode()?.key === '6'`],
  ['Last node', title('Last node'), 'dblclick', null, `heard.includes('double 7')`],
  ['Folder 2', title('Folder 2'), 'dblclick', null, `tree.getNodeByKey('2').isExpanded()`],
  ['Node 2.2', title('Node 2.2'), 'click', null, `tree.getActiveNode()?.key === '4'`, { after: ['Folder 2:dblclick'] }],
  ['', '#n2 .fancytree-expander', 'click', null, `tree.getNodeByKey('2').isExpanded()`],
  ['', '#n5 .fancytree-expander', 'click', null, `!tree.getNodeByKey('5').isExpanded()`],
  ['', '#n1 .fancytree-checkbox', 'click', null, `tree.getSelectedNodes().map(({ key }) => key).join() === '1'`],
  ['', '#n7 .fancytree-checkbox', 'click', null, `tree.getSelectedNodes().map(({ key }) => key).join() === '7'`],
];
