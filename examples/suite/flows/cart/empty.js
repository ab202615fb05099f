// The cart is emptied after a question.
// @cart @dialog
({ base }) => {
  agent.go(`${base}/products/salt-mill`);
  agent.act('{button}Add to cart', 'click');
  agent.act('{button}Empty cart', 'click');
  agent.expect('{dialog}').toHaveText('Remove everything from the cart?');
  agent.act('{dialog}OK', 'click');
  agent.expect(agent).toContainText('There is nothing here yet.');
};
