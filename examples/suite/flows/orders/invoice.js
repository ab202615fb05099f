// The invoice is downloaded.
// @orders @download
({ base }) => {
  const number = Flow.run('../checkout/order', { base });
  agent.act('{a}Invoice (text)', 'click');
  const [file] = agent.until(() => agent.downloads().length > 0 && agent.downloads());
  match(file, { name: `invoice-${number}.txt`, bytes: '#? _ > 100' });
};
