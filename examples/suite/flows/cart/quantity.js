// The quantity of a product.
// @cart
({ base }) => {
  agent.go(`${base}/products/notebook`);
  agent.act('{input}Quantity', 'input', '3');
  agent.act('{button}Add to cart', 'click');
  agent.expect('#total').toHaveText('€37.50');
};
