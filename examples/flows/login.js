// Logs in to the example shop and checks that it greets the user by name.
//
// args: base, layout (a or b), user, password; all of them may be left out.
// Start the shop with `npm run example`, then run this flow as `examples/login.js`.
({ base = 'http://127.0.0.1:4500', layout = 'a', user = 'ada', password = 'lovelace' } = {}) => {
  agent.go(`${base}/login?layout=${layout}`);

  // A locator is what a person sees: the kind of control, then its name.
  agent.act('{input}User name', 'input', user);
  agent.act('{input}Password', 'input', password);

  // A click that leads to another page returns when that page is there: nothing to wait for.
  agent.act('{button}Log in', 'click');

  match(agent.text('.who'), '#regex ^(Ada|Grace)$', 'the menu names the user');
};
