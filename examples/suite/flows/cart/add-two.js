// Two different products add up.
// @cart
({ base }) => {
  for (const slug of ['tea-cup', 'green-tea']) {
    agent.go(`${base}/products/${slug}`);
    agent.act('{button}Add to cart', 'click');
  }
  agent.expect('tbody tr').toHaveCount(2);
  agent.expect('#total').toHaveText('€18.40');
};
