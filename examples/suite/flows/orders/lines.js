// The lines of an order as CSV.
// @orders @download
({ base }) => {
  const number = Flow.run('../checkout/order', { base });
  agent.act('{a}Lines (CSV)', 'click');
  const [file] = agent.until(() => agent.downloads().length > 0 && agent.downloads());
  match(file.name, `order-${number}.csv`);
};
