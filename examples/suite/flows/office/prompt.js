// A prompt is answered.
// @dialog
({ base }) => {
  agent.go(`${base}/office/dialogs`);
  agent.act('{button}Rename draft', 'click');
  agent.expect('{dialog}Input').toHaveValue('Spring');
  agent.act('{dialog}Input', 'input', 'Summer');
  agent.act('{dialog}OK', 'click');
  agent.expect('#result').toHaveText('Renamed to Summer');
};
