// A second search replaces the first.
// @search
({ base }) => {
  agent.go(`${base}/search`);
  agent.act('{input}Search for', 'input', 'lamp');
  agent.expect('{a}Desk lamp').toBeVisible();
  agent.act('{input}Search for', 'input', 'clock');
  agent.expect('{a}Wall clock').toBeVisible();
  agent.expect('{a}Desk lamp').toBeHidden();
};
