// Fails: the page shows another text.
// @broken
({ base }) => {
  agent.go(`${base}/office/broken/price`);
  agent.expect('#price').toHaveText('€39.90', { timeout: 1500 });
};
