// Whoever answers Cancel keeps the cart.
// @cart @dialog
({ base }) => {
  agent.go(`${base}/products/salt-mill`);
  agent.act('{button}Add to cart', 'click');
  agent.act('{button}Empty cart', 'click');
  agent.act('{dialog}Cancel', 'click');
  agent.expect('#total').toHaveText('€22.50');
};
