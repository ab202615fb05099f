export const also = '.wb-row, .wb-node, .wb-title, .wb-expander, .wb-checkbox, .wb-icon, .wb-col';
const title = (text) => `.wb-title :: ${text}`;
const active = (key) => `tree.getActiveNode()?.key === '${key}'`;
export const labels = [
  ['Node 1', title('Node 1'), 'click', null, active(1)],
  ['Node 2.1', title('Node 2.1'), 'click', null, active(3)],
  ['Node 2.2', title('Node 2.2'), 'click', null, active(4)],
  ['Node 4', title('Node 4'), 'click', null, active(7)],
  ['Node 1', title('Node 1'), 'dblclick', null, `heard.includes('double 1')`],
  ['', '.wb-row:nth-of-type(5) .wb-expander', 'click', null, `tree.findKey('5').expanded === true`],
  ['', '.wb-row:nth-of-type(2) .wb-expander', 'click', null, `!tree.findKey('2').expanded`],
  ['', '.wb-row:nth-of-type(1) .wb-checkbox', 'click', null, `tree.findKey('1').isSelected() === true`],
  ['', '.wb-row:nth-of-type(6) .wb-checkbox', 'click', null, `tree.findKey('7').isSelected() === true`],
  ['Node 3.1', title('Node 3.1'), 'click', null, active(6), { after: [':click'] }],
];
