// A checkout without an address names each field.
// @checkout @form
({ base }) => {
  Flow.run('../account/log-in', { base });
  agent.go(`${base}/products/tea-cup`);
  agent.act('{button}Add to cart', 'click');
  agent.act('{a}Check out', 'click');
  agent.act('{button}Place order', 'click');
  agent.expect('[role=alert] p').toHaveText('Please look at 6 fields again:');
  agent.expect('#terms-fault').toHaveText('We need your consent.');
};
