// An alert is read and closed.
// @dialog
({ base }) => {
  agent.go(`${base}/office/dialogs`);
  agent.act('{button}Check stock', 'click');
  agent.expect('{dialog}').toHaveText('The stock is low: Desk lamp');
  agent.act('{dialog}OK', 'click');
  agent.expect('#result').toHaveText('Stock checked');
};
