// A form without a password is not sent.
// @login
({ base }) => {
  agent.go(`${base}/login`);
  agent.act('{input}User name', 'input', 'ada');
  agent.act('{button}Log in', 'click');
  agent.expect(agent).toHaveURL(`${base}/login`);
  match(agent.page("document.querySelector('#password').validity.valueMissing"), true);
};
