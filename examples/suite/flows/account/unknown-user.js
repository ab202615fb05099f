// An unknown user gets the same answer as a wrong password.
// @login
({ base }) => {
  agent.go(`${base}/login`);
  agent.act('{input}User name', 'input', 'mallory');
  agent.act('{input}Password', 'input', 'x');
  agent.act('{button}Log in', 'click');
  agent.expect('[role=alert]').toHaveText('The user name or the password is wrong.');
};
