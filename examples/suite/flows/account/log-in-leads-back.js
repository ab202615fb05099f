// Who asks for the orders gets there after the login.
// @login
({ base }) => {
  agent.go(`${base}/orders`);
  agent.expect('h1').toHaveText('Log in');
  agent.act('{input}User name', 'input', 'ada');
  agent.act('{input}Password', 'input', 'lovelace');
  agent.act('{button}Log in', 'click');
  agent.expect('h1').toHaveText('Orders');
};
