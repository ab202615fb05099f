// The first page shows twelve products.
// @smoke
({ base }) => {
  agent.go(base);
  agent.expect('h1').toHaveText('Products');
  agent.expect('.cards li').toHaveCount(12);
};
