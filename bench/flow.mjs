// How long does a flow of thirty steps take? The same steps, on the same pages, by a Playwright script in a browser of its
// own: two pages, a list that the page fills in later, fields, selects, boxes, and what stands there in the end.
import { mkdirSync, writeFileSync } from 'node:fs';
import { percentile } from './support/percentiles.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';
import { openTwoBrowsers } from './support/two-browsers.mjs';

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

/** Each step in both tongues: `role` and `name` of the element, the action, its value. */
const STEPS = [
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
const ORDERED = 'Order for Ada Lovelace';

export async function run({ rounds = 10 } = {}) {
  const pages = { '/login': LOGIN, '/shop': SHOP, '/order': ORDER };
  const { origin, run: script, page, flowsDir, close } = await openTwoBrowsers(pages);
  try {
    mkdirSync(flowsDir, { recursive: true });
    writeFileSync(`${flowsDir}/order.js`, flowOf(STEPS));
    const sides = {
      flow: () => script(`Flow.run('order', { base: '${origin}' })`),
      Playwright: () => byPlaywright(page, origin),
    };
    const samples = { flow: [], Playwright: [] };
    // The first round only warms up.
    for (let round = 0; round <= rounds; round += 1) {
      for (const side of round % 2 === 0 ? ['flow', 'Playwright'] : ['Playwright', 'flow']) {
        const startedAt = performance.now();
        const said = await sides[side]();
        if (said !== ORDERED) throw new Error(`${side} ended with ${said}`);
        if (round > 0) samples[side].push(performance.now() - startedAt);
      }
    }
    printHeader();
    for (const side of ['flow', 'Playwright']) printSamples(`${STEPS.length} steps: ${side}`, samples[side], 'ms');
    const ratio = percentile(samples.flow, 0.5) / percentile(samples.Playwright, 0.5);
    return [atMost(`flow: ${STEPS.length} steps p50, times a Playwright script`, ratio, 0.5)];
  } finally {
    await close();
  }
}

function flowOf(steps) {
  const lines = steps.map(([kind, ...rest]) => {
    if (kind === 'go') return `agent.go(base + ${JSON.stringify(rest[0])});`;
    const [role, name, value] = rest;
    const locator = JSON.stringify(`{${role}}${name}`);
    if (kind === 'reads') return `match(agent.text(${locator}), ${JSON.stringify(name)});`;
    return `agent.act(${locator}, '${kind}'${value === undefined ? '' : `, ${JSON.stringify(value)}`});`;
  });
  return `({ base }) => {\n  ${lines.join('\n  ')}\n  return agent.text('#done');\n}\n`;
}

async function byPlaywright(page, origin) {
  for (const [kind, ...rest] of STEPS) {
    if (kind === 'go') {
      await page.goto(origin + rest[0]);
      continue;
    }
    const [role, name, value] = rest;
    const found = page.getByRole(role, { name, exact: true });
    if (kind === 'click') await found.click();
    else if (kind === 'input') await found.fill(value);
    else if (kind === 'select') await found.selectOption({ label: value });
    else if (kind === 'reads') await found.textContent();
    else await found[kind]();
  }
  return page.locator('#done').textContent();
}
