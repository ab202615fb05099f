// A changed quantity changes the total.
// @cart
({ base }) => {
  agent.go(`${base}/products/notebook`);
  agent.act('{button}Add to cart', 'click');
  agent.act('{input}Quantity of Notebook', 'input', '4');
  agent.act('{button}Update cart', 'click');
  agent.expect('#total').toHaveText('€50.00');
};
