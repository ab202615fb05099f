// An order of somebody else cannot be seen.
// @orders
({ base }) => {
  Flow.run('../account/log-in', { base });
  match(agent.go(`${base}/orders/TR-999999`), { status: 404 });
  agent.expect('h1').toHaveText('No such order');
};
