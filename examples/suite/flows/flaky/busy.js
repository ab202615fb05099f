// The server answers 503 at every other visit.
// @flaky
({ base }) => {
  match(agent.go(`${base}/office/unsteady/busy`), { status: 200 });
  agent.expect('h1').toHaveText('Sales');
};
