// The button is covered at every other visit.
// @flaky
({ base }) => {
  agent.go(`${base}/office/unsteady/covered`);
  agent.act('{button}Accept return', 'click', { timeout: 1500 });
};
