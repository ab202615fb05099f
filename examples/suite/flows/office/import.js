// Two files are uploaded at once.
// @upload @table
({ base }) => {
  File.write('written/tea.csv', 'product,pieces\nTea cup,5\nGreen tea,7\n');
  File.write('written/desk.csv', 'product,pieces\nDesk lamp,2\n');
  agent.go(`${base}/office/import`);
  agent.act('{input}CSV file', 'upload', ['written/tea.csv', 'written/desk.csv']);
  agent.act('{button}Import', 'click');
  agent.expect('#files tbody tr').toHaveCount(2);
  agent.expect('//tbody/tr[1]/td[3]').toHaveText('2');
};
