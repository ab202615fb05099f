// A product that is not sold is answered with 404.
({ base }) => {
  match(agent.go(`${base}/products/unicorn`), { status: 404 });
  agent.expect('h1').toHaveText('No such product');
};
