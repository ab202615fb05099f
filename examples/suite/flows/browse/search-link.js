// A search has an address that can be passed on.
// @search
({ base }) => {
  agent.go(`${base}/search?q=knife`);
  agent.expect('{a}Bread knife').toBeVisible();
  agent.expect('{input}Search for').toHaveValue('knife');
};
