// Back leads from a product to the list.
({ base }) => {
  agent.go(base);
  agent.act('{a}Salt mill', 'click');
  agent.back();
  agent.expect('h1').toHaveText('Products');
};
