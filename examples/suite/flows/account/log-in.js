// Logs in and checks that the menu greets the user. Other flows call it.
// @smoke @login
({ base, user = 'ada', password = 'lovelace' }) => {
  agent.go(`${base}/login`);
  agent.act('{input}User name', 'input', user);
  agent.act('{input}Password', 'input', password);
  agent.act('{button}Log in', 'click');
  agent.expect('.who').toHaveText(/^(Ada|Grace)$/);
};
