// Fails: the server answers 500.
// @broken
({ base }) => {
  agent.go(`${base}/office/broken/save`);
  agent.act('{button}Save', 'click');
  agent.expect('#state').toHaveText('Saved', { timeout: 1500 });
};
