// One product in the cart.
// @smoke @cart
({ base }) => {
  agent.go(`${base}/products/blue-teapot`);
  agent.act('{button}Add to cart', 'click');
  agent.expect('#total').toHaveText('€34.90');
  agent.expect('{^a}Cart').toHaveText('Cart (1)');
};
