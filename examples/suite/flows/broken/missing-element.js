// Fails: the button has another name.
// @broken
({ base }) => {
  agent.go(`${base}/office/broken/publish`);
  agent.act('{button}Publish', 'click', { timeout: 1500 });
};
