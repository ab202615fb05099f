// What is picked up costs no shipping.
// @checkout
({ base }) => {
  Flow.run('./order', { base, slug: 'notebook', shipping: 'Pick up' });
  agent.expect('#order-total').toHaveText('€12.50');
};
