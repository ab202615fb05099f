// The button is missing at every other visit.
// @flaky
({ base }) => {
  agent.go(`${base}/office/unsteady/missing`);
  agent.act('{button}New offer', 'click', { timeout: 1500 });
};
