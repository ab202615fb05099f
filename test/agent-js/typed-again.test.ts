import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, failure } = await openAgent(t, lease);

const COUNTED = `<!doctype html><title>Typed</title><script>window.keys = 0;
  addEventListener('keydown', () => { keys += 1; }, true);</script>`;
const field = (script: string, attributes = ''): string =>
  `${COUNTED}<label>Field <input id=f ${attributes}></label><script>${script}</script>`;
/** What the page makes of the digits of its field each time that it changes. */
const formatted = (
  how: string,
): string => `f.addEventListener('input', () => { const digits = f.value.replace(/\\D/g, '');
  f.value = ${how}; });`;
/** A mask that takes one character with each key, and puts the cursor where it likes. */
const BY_KEY = `f.addEventListener('beforeinput', (event) => { event.preventDefault();
  if (event.inputType.startsWith('delete')) digits = '';
  if (event.data?.length === 1 && /\\d/.test(event.data)) digits = (digits + event.data).slice(0, 8);
  f.value = digits.padEnd(8, '_').replace(/(..)(..)(....)/, '$1/$2/$3'); });
  let digits = '';`;

/** A page, what is typed, and what the field shows then: the answer says so where it is another text. */
const TAKEN: { readonly [what: string]: readonly [html: string, typed: string, shown: string] } = {
  'a unit after a number': [
    field(formatted("digits ? Number(digits).toLocaleString('en') + ' kg' : ''")),
    '1500',
    '1,500 kg',
  ],
  'a unit that stood there before': [
    field(`${formatted("digits ? digits + ' kg' : ''")}`, 'value="10 kg"'),
    '1500',
    '1500 kg',
  ],
  'a currency in letters before a number': [field(formatted("digits ? 'USD ' + digits : ''")), '99', 'USD 99'],
  'a scheme before an address': [
    field(
      "f.addEventListener('input', () => { if (!f.value.startsWith('https://')) f.value = 'https://' + f.value; });",
    ),
    'shop.test',
    'https://shop.test',
  ],
  'a domain after a name': [
    field(
      "f.addEventListener('input', () => { if (f.value.includes('@')) return; const at = f.value.length; f.value += '@shop.test'; f.setSelectionRange(at, at); });",
    ),
    'ada',
    'ada@shop.test',
  ],
  'a mask that takes one digit with each key': [field(BY_KEY), '31122030', '31/12/2030'],
  'a mask that drops what comes together': [
    field(
      `let last = ''; f.addEventListener('input', () => { if (f.value.length > last.length + 1) f.value = f.value.slice(0, 1); last = f.value; });`,
    ),
    'abc',
    'abc',
  ],
  'a field that puts each insertion first': [
    field(`let held = ''; f.addEventListener('beforeinput', (event) => { event.preventDefault();
      if (event.inputType.startsWith('delete')) held = ''; else held = (event.data ?? '').length > 1 ? event.data.at(-1) + held : held + event.data;
      f.value = held; });`),
    '4711',
    '4711',
  ],
};

t.test('what a field adds around a text is success, and a mask gets its characters key by key', async (t) => {
  for (const [what, [html, typed, shown]] of Object.entries(TAKEN)) {
    await call('go', site.set('/typed', html));
    const answer = await call('act', '{input}Field', 'input', typed).catch((error: Error) => error.message);
    t.equal(await call('page', 'f.value'), shown, what);
    t.match(answer, { changed: true, value: shown === typed ? undefined : shown }, `${what}: the answer says so`);
  }
});

/** What is no success, and what the field shows then. */
const REFUSED: { readonly [what: string]: readonly [html: string, typed: string, shown: string] } = {
  'a field that adds a digit': [field(formatted("digits ? digits + ' of 20' : ''")), '5', '5 of 20'],
  'a field that keeps what it held': [
    field(
      "f.addEventListener('input', () => { if (!f.value.startsWith('Ada')) f.value = 'Ada ' + f.value; });",
      'value=Ada',
    ),
    'Ben',
    'Ada Ben',
  ],
  'a field that completes a name to another one': [
    field("f.addEventListener('input', () => { if (f.value === 'Ann') f.value = 'Annabel'; });"),
    'Ann',
    'Annabel',
  ],
  'a field that takes four characters': [field('', 'maxlength=4'), 'abcdef', 'abcd'],
  'a field that takes no digits': [
    field("f.addEventListener('input', () => { f.value = f.value.replace(/\\d/g, ''); });"),
    'a1b2',
    'ab',
  ],
};

t.test('a field that shows something else is an error that names it', async (t) => {
  for (const [what, [html, typed, shown]] of Object.entries(REFUSED)) {
    await call('go', site.set('/typed', html));
    const failed = await failure('act', '{input}Field', 'input', typed).catch(String);
    t.match(failed, { code: 'ACTION_FAILED', error: `it shows ${JSON.stringify(shown)}` }, what);
    t.equal(await call('page', 'f.value'), shown, `${what}: the page says so too`);
  }
});

/** What is not typed again: the page counts the keys. */
const ONCE: { readonly [what: string]: readonly [html: string, typed: string, outcome: 'done' | 'fails'] } = {
  'a chat that empties its field': [
    field("f.addEventListener('input', () => { if (f.value === 'Hello') setTimeout(() => { f.value = ''; }); });"),
    'Hello',
    'done',
  ],
  'a field that has gone': [field("f.addEventListener('input', () => f.remove());"), 'Hello', 'done'],
  'a field that passes the focus on': [
    `${field("f.addEventListener('input', () => { f.value = 'other'; g.focus(); });")}<input id=g>`,
    'abc',
    'fails',
  ],
  'a password': [field("f.addEventListener('input', () => { f.value = 'x'; });", 'type=password'), 'secret', 'fails'],
  'a field that has sent something': [
    field(
      "f.addEventListener('input', () => { fetch('/post', { method: 'POST', body: f.value }); f.value = 'sent'; });",
    ),
    'abc',
    'fails',
  ],
};

t.test('a text is typed once where the page has gone on with it', async (t) => {
  site.set('/post', (_request, response) => response.end('ok'));
  for (const [what, [html, typed, outcome]] of Object.entries(ONCE)) {
    await call('go', site.set('/typed', html));
    if (outcome === 'done') await call('act', '{input}Field', 'input', typed);
    else t.match(await failure('act', '#f', 'input', typed).catch(String), { code: 'ACTION_FAILED' }, what);
    // The last character comes by its key, the others together.
    t.ok(await call('page', 'keys <= 1'), what);
  }
});

t.test('the browser’s own slider is pressed where its value is', async (t) => {
  const slider = (attributes: string, more = ''): string => `${COUNTED}<button id=b>Volume</button><div id=popup hidden>
    <input id=r type=range aria-label=Level ${attributes} style="width: 200px"></div><script>
    b.onclick = () => { popup.hidden = false; }; window.presses = 0; window.changes = 0;
    r.addEventListener('pointerdown', () => { presses += 1; }); r.addEventListener('change', () => { changes += 1; });
    // The popup stays open while the pointer is above it.
    document.addEventListener('pointermove', (event) => { if (!popup.contains(event.target) && event.target !== b) popup.hidden = true; });${more}</script>`;
  for (const [attributes, value] of [
    ['', '73'],
    ['min=0 max=10', '3'],
    ['min=-50 max=50 step=5', '-20'],
    ['min=0 max=1 step=0.01', '0.37'],
    ['min=0 max=100000', '12345'],
    ['dir=rtl', '20'],
  ] as const) {
    await call('go', site.set('/slider', slider(attributes)));
    await call('act', '{button}Volume', 'click');
    await call('act', '{input}Level', 'input', value);
    const seen = await call('page', '[r.value, popup.hidden, presses]');
    t.same(seen, [value, false, 1], `${attributes}: ${value}`);
  }
  // What a page draws in its place takes no press there.
  for (const hidden of [
    'pointer-events: none',
    'opacity: 0; pointer-events: none',
    'clip: rect(0 0 0 0); position: absolute',
  ]) {
    await call('go', site.set('/slider', slider('').replace('width: 200px', `width: 200px; ${hidden}`)));
    await call('act', '{button}Volume', 'click');
    await call('act', '#r', 'input', '73');
    t.same(await call('page', '[r.value, presses]'), ['73', 0], hidden);
  }
  for (const value of ['101', 'loud', '3.5']) {
    await call('go', site.set('/slider', slider('')));
    await call('act', '{button}Volume', 'click');
    t.match(await failure('act', '{input}Level', 'input', value), { code: 'ACTION_FAILED' }, value);
    t.same(await call('page', '[r.value, presses]'), ['50', 0], `${value}: it stands where it stood`);
  }
});

t.end();
