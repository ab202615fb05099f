// A wrong password is refused, and the user name stays in its field.
// @login
({ base }) => {
  agent.go(`${base}/login`);
  agent.act('{input}User name', 'input', 'ada');
  agent.act('{input}Password', 'input', 'byron');
  agent.act('{button}Log in', 'click');
  agent.expect('[role=alert]').toHaveText('The user name or the password is wrong.');
  agent.expect('{input}User name').toHaveValue('ada');
};
