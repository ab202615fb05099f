// Sends the checkout of the example shop empty, checks the messages, corrects one field, and checks again.
//
// args: base, layout (a or b), user, password; all of them may be left out.
(args = {}) => {
  Flow.run('./login', args);
  Flow.run('./search', args);
  agent.act('{button}Add to cart', 'click');
  agent.act('{a}Check out', 'click');

  agent.act('{input}Name', 'clear');
  agent.act('{button}Place order', 'click');
  match(agent.text('[role=alert] p'), 'Please look at 7 fields again:');
  for (const [field, message] of [
    ['fullName', 'Please fill this in.'],
    ['postcode', 'A postcode has 3 to 10 letters and digits.'],
    ['country', 'Please choose a country.'],
    ['deliveryDate', 'Please choose a day.'],
    ['terms', 'We need your consent.'],
  ]) {
    match(agent.text(`#${field}-fault`), message, `the message of ${field}`);
  }

  agent.act('{input}Name', 'input', 'Ada Lovelace');
  agent.act('{button}Place order', 'click');
  match(agent.text('[role=alert] p'), 'Please look at 6 fields again:');

  // No order came of it: the cart is as it was.
  agent.act('{^a}Cart', 'click');
  match(agent.text('#total'), '€34.90');
};
