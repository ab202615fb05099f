// Logs out, and orders are closed again.
// @login
({ base }) => {
  Flow.run('./log-in', { base });
  agent.act('{button}Log out', 'click');
  agent.go(`${base}/orders`);
  agent.expect('h1').toHaveText('Log in');
};
