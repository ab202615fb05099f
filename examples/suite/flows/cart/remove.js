// A product is taken out of the cart.
// @cart
({ base }) => {
  agent.go(`${base}/products/salt-mill`);
  agent.act('{button}Add to cart', 'click');
  agent.act('{button}Remove Salt mill', 'click');
  agent.expect(agent).toContainText('There is nothing here yet.');
};
