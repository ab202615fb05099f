// Searches the example shop and opens a product from results that come late, one after the other.
//
// args: base, layout (a or b), query, product; all of them may be left out.
({ base = 'http://127.0.0.1:4500', layout = 'a', query = 'teapot', product = 'Blue teapot' } = {}) => {
  agent.go(`${base}/?layout=${layout}`);
  agent.act('{a}Search', 'click');
  agent.act('{input}Search for', 'input', query);

  // The page asks its server while one types, and the answer takes its time. Wait for what you need, never for a while.
  agent.wait(`{a}${product}`);
  agent.act(`{a}${product}`, 'click');

  match(agent.text('h1'), product);
  return { product, price: agent.text('.product .price') };
};
