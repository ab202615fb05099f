// Buys two blue teapots in the example shop and checks the order: its number, total, address and reference.
//
// args: base, layout (a or b), user, password, reference; all of them may be left out.
// With layout b the shop has a cookie notice, other words and a checkout in two steps, and this flow fails: that is what
// a changed site does to a flow, and what the autonomous mode is there for.
(args = {}) => {
  const { reference = 'buy-flow' } = args;

  // Flows call flows. The path has no extension, and what the other flow returns comes back. `./` is this flow's folder.
  Flow.run('./login', args);
  const { price } = Flow.run('./search', { ...args, query: 'teapot', product: 'Blue teapot' });
  match(price, '€34.90');

  agent.act('{input}Quantity', 'input', '2');
  agent.act('{button}Add to cart', 'click');
  match(agent.text('#total'), '€69.80');
  agent.act('{a}Check out', 'click');

  agent.act('{input}Name', 'input', 'Ada Lovelace');
  agent.act('{input}Street and number', 'input', '12 St James’s Square');
  agent.act('{input}Postcode', 'input', 'SW1Y 4JH');
  agent.act('{input}City', 'input', 'London');
  agent.act('{select}Country', 'select', 'Belgium');
  // `^` finds a control by a part of its name: the price of the shipping may change.
  agent.act('{^input}Express', 'check');
  agent.act('{input}Delivery date', 'input', inDays(7));
  agent.act('{input}Reference', 'input', reference);
  agent.act('{textarea}Note for us', 'input', 'Please wrap each of them.');
  agent.act('{input}I accept the terms', 'check');
  agent.act('{button}Place order', 'click');

  const order = {
    number: agent.text('#order-number'),
    total: agent.text('#order-total'),
    address: agent.text('#order-address'),
    shipping: agent.text('#order-shipping'),
    reference: agent.text('#order-reference'),
  };
  // Only what is listed is checked, and markers say what a value must look like where it is not known.
  match(order, {
    number: '#regex TR-\\d+',
    total: '€82.30',
    address: '#regex .*London, Belgium',
    reference,
  });
  return order;

  function inDays(days) {
    return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  }
};
