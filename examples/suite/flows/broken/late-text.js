// Fails: the number comes after 30 s, and the flow waits 1.5 s.
// @broken
({ base }) => {
  agent.go(`${base}/office/broken/late`);
  agent.expect('#pieces').toHaveText('12', { timeout: 1500 });
};
