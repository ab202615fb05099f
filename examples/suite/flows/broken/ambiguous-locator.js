// Fails: six buttons have this name.
// @broken
({ base }) => {
  agent.go(`${base}/office/stock`);
  agent.act('{button}Edit', 'click', { timeout: 1500 });
};
