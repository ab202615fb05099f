// More than twenty of a product are not accepted.
// @cart
({ base }) => {
  agent.go(`${base}/products/tea-cup`);
  agent.act('{input}Quantity', 'input', '21');
  agent.act('{button}Add to cart', 'click');
  agent.expect('h1').toHaveText('Tea cup');
  match(agent.page("document.querySelector('#quantity').validity.rangeOverflow"), true);
};
