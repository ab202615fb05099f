// What is in the cart stays there after the login.
// @login @cart
({ base }) => {
  agent.go(`${base}/products/notebook`);
  agent.act('{button}Add to cart', 'click');
  Flow.run('./log-in', { base });
  agent.expect('{a}Cart (1)').toBeVisible();
};
