// The search finds both teapots, whose rows arrive one after the other.
// @search
({ base }) => {
  agent.go(`${base}/search`);
  agent.act('{input}Search for', 'input', 'teapot');
  agent.expect('#status').toHaveText('3 products');
  agent.expect('{a}Green teapot').toBeVisible();
};
