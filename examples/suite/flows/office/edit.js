// The pieces of a product are changed in a dialog of the page.
// @table @dialog
({ base }) => {
  agent.go(`${base}/office/stock`);
  agent.act('{button:3}Edit', 'click');
  agent.expect('#edit-title').toHaveText('Edit Tea cup');
  agent.act('{input}Pieces', 'input', '139');
  agent.act('{button}Save', 'click');
  agent.expect('//tbody/tr[3]/td[3]').toHaveText('139');
};
