// The number comes too late at every other visit.
// @flaky
({ base }) => {
  agent.go(`${base}/office/unsteady/late`);
  agent.expect('#visitors').toHaveText('312', { timeout: 1500 });
};
