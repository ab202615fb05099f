// Cancel changes nothing.
// @table @dialog
({ base }) => {
  agent.go(`${base}/office/stock`);
  agent.act('{button:1}Edit', 'click');
  agent.act('{input}Pieces', 'input', '0');
  agent.act('{button}Cancel', 'click');
  agent.expect('//tbody/tr[1]/td[3]').toHaveText('12');
};
