// The flow of thirty steps that benchmarks of one browser run: its pages and its steps.
const LOGIN = `<!doctype html><title>Login</title><form action=/shop><label>User <input name=u></label>
<label>Password <input type=password name=p></label><button>Log in</button></form>`;
const SHOP = `<!doctype html><title>Shop</title><h1>Shop</h1><nav>${Array.from({ length: 12 }, (_, i) => `<a href="#c${i}">Category ${i}</a>`).join(' ')}</nav>
<label>Search <input id=q></label><button id=go>Search</button><ul id=results></ul><p id=total>0</p><a href=/order>Check out</a>
<script>
  const names = ['Blue teapot', 'Green teapot', 'Red teapot', 'White cup'];
  go.onclick = () => setTimeout(() => {
    results.innerHTML = names.filter((name) => name.toLowerCase().includes(q.value.toLowerCase()))
      .map((name) => '<li>' + name + ' <button>Add ' + name + '</button></li>').join('');
  }, 5);
  results.onclick = (event) => { if (event.target.localName === 'button') total.textContent = Number(total.textContent) + 1; };
</script>`;
const ORDER = `<!doctype html><title>Order</title><form id=f>
${['Name', 'Street', 'City', 'Postcode', 'Mail'].map((name) => `<label>${name} <input name=${name}></label>`).join('')}
<label>Country <select name=c><option>Austria<option>Belgium<option>Croatia</select></label>
<label>Shipping <select name=s><option>Standard<option>Express</select></label>
<label><input type=checkbox name=g> Gift</label><label><input type=checkbox name=t> Terms</label>
<label>Note <textarea name=n></textarea></label><button>Place order</button></form><p id=done></p>
<script>f.onsubmit = (event) => { event.preventDefault(); done.textContent = 'Order for ' + f.Name.value; };</script>`;

/** See `steps.mjs`. */
export const STEPS = [
  ['go', '/login'],
  ['input', 'textbox', 'User', 'ada'],
  ['input', 'textbox', 'Password', 'lovelace'],
  ['click', 'button', 'Log in'],
  ['reads', 'heading', 'Shop'],
  ...['teapot', 'cup', 'teapot'].flatMap((word) => [
    ['input', 'textbox', 'Search', word],
    ['click', 'button', 'Search'],
    ['click', 'button', word === 'cup' ? 'Add White cup' : 'Add Blue teapot'],
  ]),
  ['click', 'button', 'Add Red teapot'],
  ['click', 'link', 'Check out'],
  ['input', 'textbox', 'Name', 'Ada Lovelace'],
  ['input', 'textbox', 'Street', 'St James Square 12'],
  ['input', 'textbox', 'City', 'London'],
  ['input', 'textbox', 'Postcode', 'SW1Y 4JH'],
  ['input', 'textbox', 'Mail', 'ada@example.org'],
  ['select', 'combobox', 'Country', 'Belgium'],
  ['select', 'combobox', 'Shipping', 'Express'],
  ['check', 'checkbox', 'Gift'],
  ['check', 'checkbox', 'Terms'],
  ['input', 'textbox', 'Note', 'Please wrap each of them'],
  ['select', 'combobox', 'Country', 'Croatia'],
  ['uncheck', 'checkbox', 'Gift'],
  ['input', 'textbox', 'City', 'Zagreb'],
  ['click', 'button', 'Place order'],
];
export const PAGES = { '/login': LOGIN, '/shop': SHOP, '/order': ORDER };
/** Where what the flow answers stands, and what that is. */
export const ANSWER = '#done';
export const ORDERED = 'Order for Ada Lovelace';
