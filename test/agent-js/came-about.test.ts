import t from 'tap';
import { encodeError } from '#troupe/protocol/errors.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const neighbour = await openSite(t);
const lease = await openBrowser(t);
const { call } = await openAgent(t, lease, { actMs: 2_000, policy: 'off' });

type Action = readonly [action: string, value?: unknown];

const open = (html: string) =>
  call('go', site.set('/page', `<!doctype html><meta charset=utf-8><title>Page</title>${html}`));

/** The answer of an act, or the words with which it fails. */
async function act(locator: string, ...action: Action): Promise<unknown> {
  return call('act', locator, ...action).then(
    (answer) => answer,
    (error: unknown) => {
      const { code, error: text } = encodeError(error);
      return code === 'ACTION_FAILED' ? text : `${code}: ${text}`;
    },
  );
}

const UNCHECKED = '#it was clicked and is still unchecked';
const UNCLEARED = '#it was cleared and still holds what it held';
const COVER = '<div id=cover hidden style="position:fixed;inset:0;background:#eee"></div>';
const FIRST = /^#it took the first click and not the next: it /;

/** Pages that do not do what they are asked for. */
const FAILED: Readonly<Record<string, readonly [html: string, action: Action, words: string | RegExp]>> = {
  'a check that is taken back by a timer': [
    '<input type=checkbox id=it onchange="setTimeout(() => { it.checked = false; }, 30)">',
    ['check'],
    UNCHECKED,
  ],
  'a check of a widget that is taken back by a timer': [
    `<div id=it role=switch aria-checked=false tabindex=0
      onclick="it.ariaChecked = 'true'; setTimeout(() => { it.ariaChecked = 'false'; }, 30)">On</div>`,
    ['check'],
    UNCHECKED,
  ],
  'an option that is taken back by a timer': [
    `<select id=it onchange="setTimeout(() => { it.value = 'S'; }, 30)"><option>S<option>M</select>`,
    ['select', 'M'],
    '#it does not take what was chosen: it shows "S"',
  ],
  'one of several options that is taken back by a timer': [
    '<select multiple id=it onchange="setTimeout(() => { it.options[1].selected = false; }, 30)"><option>S<option>M</select>',
    ['select', ['S', 'M']],
    '#it does not take what was chosen: it shows "S"',
  ],
  'a date in the place of which the page puts another': [
    `<input type=date id=it onchange="it.value = '2030-01-05'">`,
    ['input', '2030-01-02'],
    '#it does not take what was typed: it shows "2030-01-05"',
  ],
  'a slider of the browser that the page puts back': [
    '<input type=range id=it oninput="it.value = 5">',
    ['input', '70'],
    '#it does not take what was typed: it shows "5"',
  ],
  'a field that the page fills again': [`<input id=it value=old oninput="it.value = 'old'">`, ['clear'], UNCLEARED],
  'a field that takes no keys': ['<input id=it value=old onkeydown="event.preventDefault()">', ['clear'], UNCLEARED],
  'an editor that takes no keys': [
    '<div contenteditable id=it onkeydown="event.preventDefault()">old</div>',
    ['clear'],
    UNCLEARED,
  ],
  'a date that the page puts back': [
    `<input type=date id=it value=2030-01-02 onchange="it.value = '2030-01-02'">`,
    ['clear'],
    UNCLEARED,
  ],
  'a double click on a label of which the first covers it': [
    `<label id=it><input type=checkbox onclick="cover.hidden = false">Buy</label>${COVER}`,
    ['dblclick'],
    FIRST,
  ],
  'a double click of which the first covers the element': [
    `<button id=it onclick="cover.hidden = false">Buy</button>${COVER}`,
    ['dblclick'],
    FIRST,
  ],
  'a double click of which the first puts the button out of use': [
    '<button id=it onclick="it.disabled = true">Buy</button>',
    ['dblclick'],
    '#it took the first click and not the next: it is disabled',
  ],
  'a double click of which the first takes the pointer away': [
    `<button id=it onclick="it.style.pointerEvents = 'none'">Buy</button>`,
    ['dblclick'],
    FIRST,
  ],
  'a focus that the page gives up': [
    '<input id=it onfocus="Promise.resolve().then(() => it.blur())">',
    ['focus'],
    '#it got the focus and lost it again',
  ],
  'a text that cannot be selected': [
    '<p id=it style="user-select:none">Some text</p>',
    ['selectText'],
    '#it does not let its text be selected',
  ],
};

for (const [name, [html, action, words]] of Object.entries(FAILED)) {
  t.test(`an act fails that has not come about: ${name}`, async (t) => {
    await open(html);
    const came = await act('#it', ...action);
    if (typeof words === 'string') t.equal(came, words);
    else t.match(came, words);
  });
}

t.test('a click that was taken is not made again for the second one', async (t) => {
  await open(`<button id=it onclick="document.title += '!'; cover.hidden = false;
    setTimeout(() => { cover.hidden = true; }, 100)">Buy</button>${COVER}`);
  t.match(await act('#it', 'dblclick'), FIRST);
  t.equal(await call('page', 'document.title'), 'Page!');
});

const BOX_IN_BOX =
  '<div id=it role=checkbox aria-label=Row style="width:20px;height:20px"><input type=checkbox style="margin:0;width:100%;height:100%;opacity:0"></div>';

/** Pages that do it in their own way. */
const DONE: Readonly<Record<string, readonly [html: string, action: Action, value?: unknown]>> = {
  'a box that its page has drawn anew': [
    `<div id=around><div id=it role=checkbox aria-checked=false
      onclick="around.innerHTML = '<div id=it role=checkbox aria-checked=true>On</div>'">Off</div></div>`,
    ['check'],
    true,
  ],
  'a drawn box that leaves its state to the box in it': [BOX_IN_BOX, ['check'], true],
  'a mask that stays in its field': [
    `<input id=it value="(__) ___" oninput="it.value = '(__) ___'">`,
    ['clear'],
    '(__) ___',
  ],
  'a field that is filled with something else': [`<input id=it value=7 oninput="it.value ||= '0'">`, ['clear'], '0'],
  'a date that the page has taken and removed': [
    `<input type=date id=it onchange="it.value = ''">`,
    ['input', '2030-01-02'],
    '',
  ],
  'two clicks on what is disabled after them': [
    '<button id=it value=x ondblclick="it.disabled = true">Buy</button>',
    ['dblclick'],
  ],
  'a slider that is cleared': ['<input type=range id=it>', ['clear'], '50'],
  'the focus of the page itself': ['<body id=it>A page', ['focus']],
  'a selected field': ['<input id=it value=old>', ['selectText'], 'old'],
  'a selected text in a shadow root': [
    `<div id=host></div><script>host.attachShadow({ mode: 'open' }).innerHTML = '<p id=it>Some text</p>';</script>`,
    ['selectText'],
  ],
};

for (const [name, [html, action, value]] of Object.entries(DONE)) {
  t.test(`an act is done that has come about in another way: ${name}`, async (t) => {
    await open(html);
    t.type(await act('#it', ...action), 'object');
    if (value !== undefined) t.equal(await call('value', '#it'), value);
  });
}

t.test('a drawn box is unchecked that leaves its state to the box in it', async (t) => {
  await open(BOX_IN_BOX.replace('<input', '<input checked'));
  t.equal(await call('value', '#it'), true);
  t.type(await act('#it', 'uncheck'), 'object');
  t.equal(await call('page', "document.querySelector('input').checked"), false);
});

t.test('what a look has numbered in a frame of another origin is not used behind a modal dialog', async (t) => {
  const inner = neighbour.set(
    '/inner',
    `<!doctype html><meta charset=utf-8><title>Inner</title><select aria-label=Size><option>S<option>M</select>
     <select aria-label=Size><option>S<option>M</select><input aria-label=Name><input aria-label=Name>
     <button onfocus="this.textContent = 'Focused'">Go</button><button>Go</button>`,
  );
  await open(`<iframe style="width:500px;height:250px" src="${inner}"></iframe><dialog id=d><h2>Upper</h2></dialog>`);
  await call('wait', '{button:2}Go');
  await call('look', { full: true });
  await call('page', 'd.showModal(); 0');
  const behind = /is in a frame that is behind a modal dialog, or inert$/;
  t.match(await act('{select:2}Size', 'select', 'M'), behind);
  t.match(await act('{input:2}Name', 'input', 'Ada'), behind);
  t.match(await act('{button:1}Go', 'focus'), behind);
  t.match(await act('{button:1}Go', 'click'), behind);
  t.equal(await call('value', '{select:2}Size'), 'S', 'it is read');
  t.equal(await call('value', '{input:2}Name'), '');
  t.equal(await call('text', '{button:1}Go'), 'Go');
  await call('page', 'setTimeout(() => d.close(), 300); 0');
  t.type(await act('{select:2}Size', 'select', 'M'), 'object', 'the dialog closed meanwhile');
  t.equal(await call('value', '{select:2}Size'), 'M');
});
