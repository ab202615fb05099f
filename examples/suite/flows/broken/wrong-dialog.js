// Fails: the question of the page is another one.
// @broken @dialog
({ base }) => {
  agent.go(`${base}/office/broken/archive`);
  agent.act('{button}Archive orders', 'click');
  agent.expect('{dialog}').toHaveText('Archive 1 order?', { timeout: 1500 });
  agent.act('{dialog}OK', 'click');
};
