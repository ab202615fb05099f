// Fails: the script of the page throws.
// @broken
({ base }) => {
  agent.go(`${base}/office/broken/total`);
  agent.act('{button}Add up', 'click');
  agent.expect('#state').toHaveText('€82.30', { timeout: 1500 });
};
