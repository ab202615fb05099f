// Nobody checks out without a login.
// @checkout @login
({ base }) => {
  agent.go(`${base}/products/tea-cup`);
  agent.act('{button}Add to cart', 'click');
  agent.act('{a}Check out', 'click');
  agent.expect('h1').toHaveText('Log in');
};
