// Express costs more.
// @checkout
({ base }) => {
  Flow.run('./order', { base, slug: 'notebook', shipping: 'Express' });
  agent.expect('#order-total').toHaveText('€25.00');
  agent.expect('#order-shipping').toHaveText('Express');
};
