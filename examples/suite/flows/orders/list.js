// An order is in the table of orders.
// @orders @table
({ base }) => {
  const number = Flow.run('../checkout/order', { base });
  agent.act('{a}Orders', 'click');
  agent.expect(`{a}${number}`).toBeVisible();
};
