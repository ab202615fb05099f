// A search without results says so.
// @search
({ base }) => {
  agent.go(`${base}/search`);
  agent.act('{input}Search for', 'input', 'unicorn');
  agent.expect('#status').toHaveText('Nothing found for “unicorn”');
};
