// A question of the browser is answered with Cancel.
// @dialog
({ base }) => {
  agent.go(`${base}/office/dialogs`);
  agent.act('{button}Delete draft', 'click');
  agent.act('{dialog}Cancel', 'click');
  agent.expect('#result').toHaveText('Draft kept');
  match(agent.dialogs().length, 1);
};
