import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import type { LookDiff } from '#troupe/agent-js/look/diff.js';
import { diffLooks } from '#troupe/agent-js/look/diff.js';
import type { ElementDescriptor } from '#troupe/protocol/look.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { SEED } from '../support/seed.js';

guardLeaks(t);

fc.configureGlobal({ seed: SEED });

const lease = await openBrowser(t);
const site = await openSite(t);
const { call, look, failure } = await openAgent(t, lease);

/** A look's diff applied to the list before it, by locator. */
function applied(
  before: readonly ElementDescriptor[],
  seen: { readonly elements: readonly ElementDescriptor[]; readonly diff?: LookDiff },
): Map<string, object> {
  const list = new Map<string, Record<string, unknown>>(before.map((element) => [element.locator, { ...element }]));
  for (const locator of seen.diff?.removed ?? []) list.delete(locator);
  for (const { locator, ...members } of seen.diff?.changed ?? []) {
    const element = list.get(locator) ?? {};
    for (const [member, value] of Object.entries(members)) {
      if (value === null) delete element[member];
      else element[member] = value;
    }
  }
  for (const index of seen.diff?.added ?? []) {
    const element = seen.elements[index];
    if (element !== undefined) list.set(element.locator, { ...element });
  }
  return list;
}

function byLocator(elements: readonly ElementDescriptor[]): Map<string, object> {
  return new Map(elements.map((element) => [element.locator, element]));
}

t.test('look finds what a person can use, and nothing that they cannot', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../pages/controls.html'), 'utf8');
  await call('go', site.set('/controls', page));
  const { url, title, elements } = await look({ full: true });
  t.equal(url, `${site.origin}/controls`);
  t.equal(title, 'Controls');
  const lines = elements.map(({ locator, actions: _, role: __, name: ___, ...rest }) =>
    Object.keys(rest).length === 0 ? locator : `${locator} ${JSON.stringify(rest)}`,
  );
  t.same(lines, [
    '{input}First name {"value":"Ada"}',
    '{input}Password',
    '{input}Search here',
    '{input}Billing city',
    '{textarea}Comment',
    '{select}Country {"value":"Belgium","options":["Austria","Belgium"]}',
    '{select}Toppings {"value":"Ham, Olives","options":["Ham","Egg","Olives"]}',
    '{input}Newsletter {"checked":true}',
    '{input}Card {"checked":false}',
    '{input}Cash {"checked":true}',
    '{input}I accept the terms {"checked":false}',
    '{input}Born {"value":"1990-01-02"}',
    '{input}Photo',
    '{button}Choose a photo',
    '{input}Send',
    '{button}Not now {"disabled":true}',
    '{button:1}Same',
    '{button:2}Same',
    '{button}Close',
    '{a}Order 1 {"href":"/orders/1"}',
    '{a}Far away {"href":"https://example.test/far"}',
    '{a}Logo {"href":"/img"}',
    '{tab}Settings',
    '{switch}Dark mode {"checked":true}',
    '{div}Card to click',
    '{div}Listens',
    '{div}Story {"value":"Once"}',
    '{summary}More',
    '{button}Buy',
    '{button}In the frame',
    '{^button}A button whose name goes on and on, far beyond what anybody would call a name, so that a list of suc',
    '{button}Far below {"offscreen":true}',
  ]);
  const actions = new Map(elements.map((element) => [element.locator, element.actions]));
  t.same(actions.get('{input}First name'), ['input', 'clear', 'press', 'click']);
  t.same(actions.get('{select}Country'), ['select']);
  t.same(actions.get('{input}Newsletter'), ['click', 'check', 'uncheck']);
  t.same(actions.get('{input}Photo'), ['upload']);
  t.same(actions.get('{button}Close'), ['click']);
});

t.test('A password is in no look and no value', async (t) => {
  await call('go', `${site.origin}/controls`);
  t.notMatch(JSON.stringify(await look({ full: true })), /hunter2/);
  t.notMatch(JSON.stringify(await call('value', '{input}Password')), /hunter2/);
});

t.test('A modal dialog hides the rest of the page from look', async (t) => {
  await call('go', site.set('/modal', '<button>Behind</button><dialog><button>Yes</button></dialog>'));
  t.same(
    (await look({ full: true })).elements.map((element) => element.locator),
    ['{button}Behind'],
  );
  await call('page', 'document.querySelector("dialog").showModal()');
  t.same(
    (await look({ full: true })).elements.map((element) => element.locator),
    ['{button}Yes'],
  );
  t.equal(await call('text', '{button}Behind'), 'Behind', 'it can be read');
  const refused = await failure('act', '{button}Behind', 'click', { timeout: 100 });
  t.match(refused, { code: 'ACTION_FAILED', error: /^\{button\}Behind is behind \{dialog\}Yes/ });
});

t.test('look within an element shows its controls under the page-wide locators', async (t) => {
  await call(
    'go',
    site.set('/within', '<main><button>Save</button></main><footer id=f><button>Save</button></footer>'),
  );
  t.same(
    (await look({ within: '#f' })).elements.map((element) => element.locator),
    ['{button:2}Save'],
  );
  t.equal((await look({ within: '#f' })).diff, undefined, 'it is no part of the sequence of diffs');
});

t.test('A later look is a diff, and one of another document names nothing of the document before', async (t) => {
  await call('go', site.set('/first', '<input aria-label=Name><button>Save</button><a href=/x>Away</a>'));
  const first = await look({ full: true });
  t.equal(first.diff, undefined);
  const same = await look();
  t.same(same.diff, { added: [], removed: [], changed: [] });
  await call('act', '{input}Name', 'input', 'Ada');
  await call('page', 'document.querySelector("a").remove(); document.querySelector("button").disabled = true');
  const later = await look();
  t.same(later.diff, {
    added: [],
    removed: ['{a}Away'],
    changed: [
      { locator: '{input}Name', value: 'Ada' },
      { locator: '{button}Save', disabled: true },
    ],
  });
  await call('act', '{input}Name', 'clear');
  t.same((await look()).diff?.changed, [{ locator: '{input}Name', value: null }], 'a member that went is null');
  await call('go', site.set('/second', '<button>Save</button><button>More</button>'));
  t.same((await look()).diff, { document: 'new', added: [0, 1], removed: [], changed: [] });
  await call('page', 'document.querySelector("button").disabled = true');
  t.same((await look()).diff?.changed, [{ locator: '{button}Save', disabled: true }], 'a diff again');
  await call('page', 'history.pushState(null, "", "/third")');
  t.equal((await look()).diff?.document, undefined, 'the same document under another address');
  await call('wait', 'navigation');
  await call('page', 'location.href = "/second"; 0');
  await call('wait', 'navigation');
  t.same(
    (await look()).diff,
    { document: 'new', added: [0, 1], removed: [], changed: [] },
    'the same page, loaded anew',
  );
  await call('page', 'open("/first"); 0');
  await call('wait', '{a}Away');
  t.same((await look()).diff, { document: 'new', added: [0, 1, 2], removed: [], changed: [] }, 'another tab');
  await call('tab', 0);
  t.same((await look()).diff?.document, 'new', 'back on the first');
});

const name = fc.constantFrom(
  '',
  'Save',
  'Save  all',
  ' Save',
  'All',
  'long '.repeat(40),
  `long ${'long '.repeat(39)}end`,
);
const field = fc.tuple(
  fc.constantFrom(
    'input',
    'textarea',
    'div role=textbox contenteditable',
    'div role=slider',
    'div role=searchbox contenteditable',
  ),
  name,
  fc.constantFrom('', '<div>', '<span hidden>', '<span inert>', '<p><i>'),
);

t.test('Every locator that look prints means exactly the element that it was printed for', async (t) => {
  await call('go', site.set('/random', '<div id=root></div>'));
  await fc.assert(
    fc.asyncProperty(fc.array(field, { minLength: 1, maxLength: 12 }), async (fields) => {
      // Each control holds a value of its own, by which it is known again.
      const html = fields.map(([tag, label, wrapper], index) => {
        const close = wrapper.includes('span') ? '</span>' : wrapper.includes('p') ? '</i></p>' : wrapper && '</div>';
        const named = `aria-label="${label}"`;
        if (tag === 'input') return `${wrapper}<input ${named} value="v${index}">${close}`;
        if (tag === 'textarea') return `${wrapper}<textarea ${named}>v${index}</textarea>${close}`;
        return `${wrapper}<${tag} ${named} aria-valuetext="v${index}" tabindex=0>v${index}</div>${close}`;
      });
      await call('page', `document.getElementById('root').innerHTML = ${JSON.stringify(html.join(''))}; null`);
      const { elements } = await look({ full: true });
      const values = await Promise.all(elements.map(({ locator }) => call('value', locator)));
      assert.deepEqual(
        values,
        elements.map((element) => element.value),
      );
      const shown = fields.flatMap(([, , wrapper], index) => (wrapper.includes('span') ? [] : [`v${index}`]));
      assert.deepEqual(values, shown, 'all that are shown, and no other');
    }),
    { numRuns: 40 },
  );
  t.pass('40 pages');
});

const descriptor = fc.record(
  {
    role: fc.constant('button'),
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    value: fc.constantFrom('1', '2'),
    disabled: fc.constant(true as const),
    options: fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 }),
  },
  { requiredKeys: ['role', 'name'] },
);
const list = fc
  .uniqueArray(descriptor, { selector: (one) => one.name })
  .map((ones) => ones.map((one) => ({ ...one, locator: `{button}${one.name}`, actions: ['click' as const] })));

t.test('The look before with the diff applied is the look after', async (t) => {
  fc.assert(
    fc.property(list, list, (before, after) => {
      const seen = { url: '', title: '', elements: after, diff: diffLooks(before, after) };
      assert.deepEqual(applied(before, seen), byLocator(after));
    }),
  );
  t.pass('100 pairs');
});

t.test('Looks stay true while a page changes at random', async (t) => {
  await call('go', site.set('/mutating', '<div id=root></div>'));
  let before = (await look({ full: true })).elements;
  const change = fc.constantFrom(
    'root.insertAdjacentHTML("afterbegin", "<button>Save</button>")',
    'root.insertAdjacentHTML("beforeend", "<label>Save <input type=checkbox></label>")',
    'root.insertAdjacentHTML("beforeend", "<a href=/x>Go</a>")',
    'root.firstElementChild?.remove()',
    'root.append(...root.childNodes); root.lastElementChild && root.prepend(root.lastElementChild)',
    'root.querySelectorAll("button").forEach((b) => { b.disabled = !b.disabled })',
    'root.querySelectorAll("input").forEach((b) => { b.checked = !b.checked })',
    'root.attachShadow === undefined || root.append(Object.assign(document.createElement("div"), {}).attachShadow({mode: "open"}).host)',
    '[...root.querySelectorAll("div")].at(-1)?.shadowRoot?.append(Object.assign(document.createElement("button"), { textContent: "Deep" }))',
    'root.hidden = !root.hidden',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
      await call(
        'page',
        `(() => { const root = document.getElementById('root'); ${changes.join('; ')}; return null })()`,
      );
      const seen = await look();
      assert.deepEqual(applied(before, seen), byLocator(seen.elements));
      before = seen.elements;
    }),
    { numRuns: 40 },
  );
  t.pass('40 pages');
});

t.test('a sign without words is called by its title and its row', async (t) => {
  const { call, look } = await openAgent(t, await openBrowser(t));
  const site = await openSite(t);
  const star = (title: string) => `<span ${title} style="cursor:pointer" onclick="">☆</span>`;
  const page = `<ul><li>Dune ${star('')}${star('')}</li><li>Emma ${star('title="Rate"')}</li></ul>
    <table><tr><td><span onclick="" title="Move Ada">⠿</span></td><td>Ada</td></tr></table><i onclick="" title=heart>❤️</i>
    <span onclick="">▲</span> <span onclick="">+1</span> <button title=Previous>‹</button>`;
  await call('go', site.set('/signs', page));
  const locators = (await look({ full: true })).elements.map(({ locator }) => locator);
  t.same(locators, [
    '{span:1}☆ Dune',
    '{span:2}☆ Dune',
    '{span}Rate Emma',
    '{span}Move Ada',
    '{i}heart',
    '{span}▲',
    '{span}+1',
    '{button}‹',
  ]);
});

t.test('a row that listens is listed beside its button, and pressed beside it', async (t) => {
  await call(
    'go',
    site.set(
      '/row',
      `<!doctype html><title>Rows</title><ul style="text-align: center"><li>
    <button style="width: 90%">Delete</button> Mail</li></ul><script>document.querySelector('li').onclick = ({ target }) => {
    document.title = target.localName; };</script>`,
    ),
  );
  const { elements } = await look({ full: true });
  t.strictSame(
    elements.map(({ locator }) => locator),
    ['{li}Delete Mail', '{button}Delete'],
  );
  await call('act', '{li}Delete Mail', 'click');
  t.equal(await call('page', 'document.title'), 'li');
});

t.test('boxes in cells are called by column and row, and fields by their label before a pattern', async (t) => {
  const { call, look } = await openAgent(t, await openBrowser(t));
  const site = await openSite(t);
  const box = '<input type=checkbox>';
  const cell = (index: number, inner: string) => `<td role=gridcell aria-colindex=${index}>${inner}</td>`;
  const page = `<div role=grid><table><tr role=row><td role=columnheader aria-colindex=1>Name</td><td role=columnheader aria-colindex=2 aria-label=Done></td></tr></table>
    <table><tr role=row>${cell(1, 'Ann')}${cell(2, box)}${cell(3, '<a href=/x>Delete</a>')}</tr></table></div>
    <table><tr><td>${box}</td><td>John</td><td>30</td><td>${box}</td><td><a href=/y>Remove</a></td></tr></table>
    <table><tr><td>${box}</td><td>News</td><td>${box}</td><td>Offers</td></tr><tr><td>Terms</td><td>${box}</td></tr></table>
    <p>Born <input placeholder="dd/mm/yyyy"></p><p>Price <input placeholder="0.00"></p><p><input placeholder="yyyy-mm-dd"></p><p>Find <input placeholder="Name or day"></p>`;
  await call('go', site.set('/boxes', page));
  const names = (await look({ full: true })).elements.map(({ locator }) => locator);
  t.same(
    names.filter((locator) => locator.startsWith('{input')),
    [
      '{input}Ann Done',
      '{input:1}John',
      '{input:2}John',
      '{input}News',
      '{input}Offers',
      '{input}Terms',
      '{input}Born',
      '{input}Price',
      '{input}yyyy-mm-dd',
      '{input}Name or day',
    ],
  );
});

t.test('a box in an item of a tree of several choices shows whether the item is chosen', async (t) => {
  const { call, look } = await openAgent(t, await openBrowser(t));
  const site = await openSite(t);
  const item = (name: string) =>
    `<li role=treeitem aria-selected=false><span role=checkbox onclick="const li = this.parentNode; li.ariaSelected = li.ariaSelected !== 'true'">&nbsp;</span> ${name}</li>`;
  await call('go', site.set('/tree', `<ul role=tree aria-multiselectable=true>${item('One')}${item('Two')}</ul>`));
  const checked = async () =>
    (await look()).elements.filter(({ role }) => role === 'checkbox').map((one) => one.checked);
  t.same(await checked(), [false, false]);
  t.match(await call('act', '{checkbox}Two', 'check'), { changed: true });
  t.match(await call('act', '{checkbox}Two', 'check'), { changed: false }, 'it is already');
  t.same(await checked(), [false, true]);
});

t.test('options of a list with several choices show which are chosen', async (t) => {
  const { call, look } = await openAgent(t, await openBrowser(t));
  const site = await openSite(t);
  const option = (name: string, selected: boolean) =>
    `<div role=option aria-selected=${selected} onclick="this.ariaSelected = this.ariaSelected !== 'true'">${name}</div>`;
  await call(
    'go',
    site.set(
      '/chosen',
      `<div role=listbox aria-multiselectable=true>${option('Tea', true)}${option('Milk', false)}</div><div role=listbox>${option('One', false)}</div>`,
    ),
  );
  const states = async () => (await look()).elements.map(({ name, checked }) => [name, checked]);
  t.same(await states(), [
    ['Tea', true],
    ['Milk', false],
    ['One', undefined],
  ]);
  await call('act', '{option}Milk', 'check');
  await call('act', '{option}Tea', 'uncheck');
  t.same(await states(), [
    ['Tea', false],
    ['Milk', true],
    ['One', undefined],
  ]);
});

t.test('a control without a label is called what is drawn beside it, not what comes next', async (t) => {
  const { call, look } = await openAgent(t, await openBrowser(t));
  const site = await openSite(t);
  const wrapped = (html: string) => `${'<div>'.repeat(7)}${html}${'</div>'.repeat(7)}`;
  await call(
    'go',
    site.set(
      '/beside',
      `<div><button role=switch aria-checked=false style="width:44px;height:22px"></button></div>
       <div style="position:absolute;left:64px;top:8px"><ul><li role=menuitem onclick="1">ada</li></ul></div>
       <div style="display:flex;margin-top:99px"><div>Volume</div>${wrapped('<div role=slider tabindex=0 style="width:90px;height:9px">')}</div>
       <div><span id=mirror></span> <input id=field oninput="mirror.textContent = field.value"></div>`,
    ),
  );
  await call('act', '{input}', 'input', 'dev');
  t.same(
    (await look()).elements.map(({ locator }) => locator),
    ['{switch}', '{menuitem}ada', '{slider}Volume', '{input}'],
  );
});

t.end();
