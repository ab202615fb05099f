// A product has its name, price, and a button.
// @smoke
({ base }) => {
  agent.go(base);
  agent.act('{a}Desk lamp', 'click');
  agent.expect('h1').toHaveText('Desk lamp');
  agent.expect('.product .price').toHaveText('€59.00');
  agent.expect('{button}Add to cart').toBeEnabled();
};
