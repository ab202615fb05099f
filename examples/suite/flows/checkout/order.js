// Buys a product and returns the number of the order. Other flows call it.
// @smoke @checkout
({ base, slug = 'blue-teapot', shipping = 'Standard', upload = null }) => {
  Flow.run('../account/log-in', { base });
  agent.go(`${base}/products/${slug}`);
  agent.act('{button}Add to cart', 'click');
  agent.act('{a}Check out', 'click');
  agent.act('{input}Street and number', 'input', '12 St James’s Square');
  agent.act('{input}Postcode', 'input', 'SW1Y 4JH');
  agent.act('{input}City', 'input', 'London');
  agent.act('{select}Country', 'select', 'Belgium');
  agent.act(`{^input}${shipping}`, 'check');
  agent.act('{input}Delivery date', 'input', new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10));
  if (upload !== null) agent.act('{input}Attachment', 'upload', upload);
  agent.act('{input}I accept the terms', 'check');
  agent.act('{button}Place order', 'click');
  agent.expect('[role=status]').toHaveText('Your order was placed.');
  return agent.text('#order-number');
};
