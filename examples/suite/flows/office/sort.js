// The table is sorted by pieces.
// @table
({ base }) => {
  agent.go(`${base}/office/stock`);
  agent.act('{button}Pieces', 'click');
  agent.expect('//tbody/tr[1]/td[1]').toHaveText('Desk lamp');
};
