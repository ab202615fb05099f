// The table of the stock is filtered while one types.
// @table
({ base }) => {
  agent.go(`${base}/office/stock`);
  agent.act('{input}Filter', 'input', 'tea');
  agent.expect('#count').toHaveText('3 products');
  agent.expect('#stock tbody tr').toHaveCount(3);
};
