// A form with controls of every kind.
// @form
({ base }) => {
  agent.go(`${base}/office/settings`);
  agent.act('{input}Shop name', 'input', 'Pen & Teapot');
  agent.act('{input}Mail', 'input', 'shop@example.com');
  agent.act('{select}Currency', 'select', 'Krone');
  agent.act('{input}weekly', 'check');
  agent.act('{input}Closed for holidays', 'check');
  agent.act('{textarea}Note', 'input', 'Back in May');
  agent.act('{button}Save settings', 'click');
  agent.expect('#shop').toHaveText('Pen & Teapot');
  agent.expect('#currency').toHaveText('Krone');
  agent.expect('#newsletter').toHaveText('weekly');
  agent.expect('#holiday').toHaveText('yes');
};
