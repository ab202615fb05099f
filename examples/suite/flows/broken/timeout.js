// Fails: the report is never ready.
// @broken
({ base }) => {
  agent.go(`${base}/office/broken/report`);
  agent.wait('{a}Download', { timeout: 1500 });
};
