// A postcode has letters and digits.
// @checkout @form
({ base }) => {
  Flow.run('../account/log-in', { base });
  agent.go(`${base}/products/tea-cup`);
  agent.act('{button}Add to cart', 'click');
  agent.act('{a}Check out', 'click');
  agent.act('{input}Postcode', 'input', '!');
  agent.act('{button}Place order', 'click');
  agent.expect('#postcode-fault').toHaveText('A postcode has 3 to 10 letters and digits.');
  agent.expect('{input}Postcode').toHaveAttribute('aria-invalid', 'true');
};
