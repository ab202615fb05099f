// Fails: the button is below a banner.
// @broken
({ base }) => {
  agent.go(`${base}/office/broken/covered`);
  agent.act('{button}Accept order', 'click', { timeout: 1500 });
};
