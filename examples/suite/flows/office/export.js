// Reports are downloaded: from a link, when they are ready, and made by the page.
// @download
({ base }) => {
  agent.go(`${base}/office/reports`);
  agent.act('{a}Stock (CSV)', 'click');
  agent.act('{button}Prepare yearly report', 'click');
  agent.expect('{a}Yearly report').toBeVisible();
  agent.act('{button}Export this page', 'click');
  const names = agent.until(() => agent.downloads().length === 2 && agent.downloads().map(({ name }) => name));
  match(names.sort(), ['page.txt', 'stock.csv']);
};
