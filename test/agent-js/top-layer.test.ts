import t, { type Test } from 'tap';
import type { WholeLook } from '#troupe/agent-js/look/look.js';
import { type ErrorBody, encodeError } from '#troupe/protocol/errors.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const neighbour = await openSite(t);
const lease = await openBrowser(t);
const { callFrom } = await openAgent(t, lease, { actMs: 2_000, policy: 'off' });

/** Is given to what holds at once. */
const SOON = { timeout: 1_000 };
/** Is given to what must not come true. */
const NEVER = { timeout: 20 };
/** Is given to an act that is to be refused. */
const PRESS = { timeout: 100 };
const HELD = 'held';

/** Flows begin without numbers: each page is used by a flow of its own. */
let flowRun = 0;
const call = (method: string, ...args: readonly unknown[]) => callFrom({ flowRun }, method, ...args);

/** What the scripts of a page use. A button says its number when it is pressed, through frames too. */
const TOOLS = `<style>dialog, [popover] { padding: 8px } h2, p { margin: 4px }</style><script>
  const heard = [];
  const say = (n) => void (parent === window ? heard.push(n) : parent.postMessage(n, '*'));
  onmessage = ({ data }) => say(data);
  const roots = [document];
  const box = (id) => roots.map((root) => root.getElementById(id)).find((found) => found !== null);
  const show = (...ids) => { for (const id of ids) box(id).showModal(); return 0; };
  const close = (id) => { box(id).close(); return 0; };
  const enclose = (id, mode) => {
    const host = document.createElement('div');
    const dialog = box(id);
    dialog.replaceWith(host);
    const root = host.attachShadow({ mode });
    root.append(dialog);
    roots.push(root);
  };
</script>`;
const open = (html: string) => {
  flowRun += 1;
  return call('go', site.set('/layers', `<!doctype html><meta charset=utf-8><title>Layers</title>${TOOLS}${html}`));
};
const run = (script: string) => call('page', `${script}; 0`);

const button = (name: string, n: number, more = '') =>
  `<button data-n=${n} onclick="say(${n})" ${more}>${name}</button>`;
/** A dialog called A has a heading `A title`, a text `A text` and a button `Use A`. */
const inside = (name: string, n: number) => `<h2>${name} title</h2><p>${name} text</p>${button(`Use ${name}`, n)}`;
const dialog = (name: string, n: number, { style = '', more = '' } = {}) =>
  `<dialog id=${name} style="${style}">${inside(name, n)}${more}</dialog>`;

const locators = async () => ((await call('look', { full: true })) as WholeLook).elements.map(({ locator }) => locator);

async function failure(method: string, ...args: readonly unknown[]): Promise<ErrorBody | null> {
  return call(method, ...args).then(
    () => null,
    (error: unknown) => encodeError(error),
  );
}
/** HELD, or the code that a call fails with. */
const outcome = async (method: string, ...args: readonly unknown[]) => (await failure(method, ...args))?.code ?? HELD;
const judged = (locator: string, matcher: string, ...values: readonly unknown[]) =>
  outcome('expect', locator, matcher, { not: false, values });
const countOf = (locator: string, count: number) => judged(locator, 'toHaveCount', count, SOON);
const textOf = (locator: string, text: string) => judged(locator, 'toHaveText', text, SOON);
/** Whether a locator means the element with this number of the page's own. */
const means = (locator: string, n: number) => judged(locator, 'toHaveAttribute', 'data-n', String(n), SOON);
/** What an act came to, and the numbers of the buttons that heard it. */
async function act(locator: string, options: object = {}): Promise<string> {
  const failed = await failure('act', locator, 'click', options);
  const came = failed === null ? HELD : `${failed.code}: ${failed.error}`;
  return `${came} ${await call('page', 'heard.splice(0).join()')}`.trim();
}

/** What is true of everything that is rendered, whatever lies over it. */
async function isThere(locator: string): Promise<Record<string, string>> {
  return {
    wait: await outcome('wait', locator, SOON),
    gone: await outcome('wait', `!${locator}`, NEVER),
    visible: await judged(locator, 'toBeVisible', SOON),
    notVisible: await outcome('expect', locator, 'toBeVisible', { not: true, values: [NEVER] }),
    hidden: await judged(locator, 'toBeHidden', NEVER),
  };
}
const THERE = { wait: HELD, gone: 'WAIT_TIMEOUT', visible: HELD, notVisible: 'MATCH_FAILED', hidden: 'MATCH_FAILED' };

/** Expects that something can be read and not used, and that the refusal says why. */
async function isBehind(t: Test, what: string, locator: string, why: RegExp): Promise<void> {
  t.same(await isThere(locator), THERE, `${what}: ${locator} is there`);
  t.equal(await countOf(locator, 1), HELD, `${what}: ${locator} counts`);
  t.match(await failure('act', locator, 'click', PRESS), { code: 'ACTION_FAILED', error: why }, `${what}: ${locator}`);
  t.equal(await call('page', 'heard.splice(0).join()'), '', `${what}: ${locator} hears nothing`);
}

/** Expects of dialogs, and of what else is built like them, which can be used and which only read. */
async function isOnTop(
  t: Test,
  what: string,
  usable: Readonly<Record<string, number>>,
  behind: readonly string[],
  why: RegExp,
): Promise<void> {
  t.same(
    await locators(),
    Object.keys(usable).map((name) => `{button}Use ${name}`),
    `${what}: look`,
  );
  for (const name of [...Object.keys(usable), ...behind]) {
    t.equal(await judged(`{h2}${name} title`, 'toBeVisible', SOON), HELD, `${what}: the heading of ${name}`);
    t.equal(
      await outcome('wait', `!{h2}${name} title`, NEVER),
      'WAIT_TIMEOUT',
      `${what}: the heading of ${name} stays`,
    );
    t.equal(await textOf(`{p}${name} text`, `${name} text`), HELD, `${what}: the text of ${name}`);
  }
  for (const name of behind) await isBehind(t, what, `{button}Use ${name}`, why);
  for (const [name, n] of Object.entries(usable)) {
    t.equal(await act(`{button}Use ${name}`), `held ${n}`, `${what}: ${name} is usable`);
  }
}
const behindDialog = (name: string) => new RegExp(` is behind \\{dialog\\}${name} title`);

t.test('a dialog that was opened from another one is on top, though it comes first in the document', async (t) => {
  await open(`<dialog id=confirm><h2>Delete entry?</h2><p id=msg>This cannot be undone.</p>
    <button onclick="document.title='deleted';box('confirm').close()">Yes, delete</button></dialog>
    <dialog id=edit><h2>Edit entry</h2><label>Title <input value=Old></label>
    <button onclick="document.title='saved'">Save</button>
    <button onclick="box('confirm').showModal()">Delete</button></dialog>
    <button onclick="box('edit').showModal()">Edit</button>`);
  await call('act', '{button}Edit', 'click');
  await call('act', '{button}Delete', 'click');
  t.same(await locators(), ['{button}Yes, delete']);
  for (const locator of ['#msg', '//p', '{p}This cannot be undone.', '{h2}Delete entry?', '#confirm'])
    t.same(await isThere(locator), THERE, locator);
  t.equal(await call('text', '{h2}Delete entry?'), 'Delete entry?');
  for (const locator of ['{h2}Edit entry', '{button}Edit', '{button}Save', '{input}Title', '#edit'])
    t.same(await isThere(locator), THERE, locator);
  t.equal(await call('value', '{input}Title'), 'Old');
  for (const [locator, action, value] of [
    ['{button}Save', 'click'],
    ['{input}Title', 'input', 'New'],
    ['//button[.="Edit"]', 'click'],
  ] as const) {
    const refused = await failure('act', locator, action, ...(value === undefined ? [PRESS] : [value, PRESS]));
    t.match(refused, { code: 'ACTION_FAILED', error: / is behind \{dialog\}Delete entry\?/ }, locator);
  }
  t.equal(await call('page', 'document.title'), 'Layers');
  await call('act', '{button}Yes, delete', 'click');
  t.equal(await call('page', 'document.title'), 'deleted');
  t.equal(await judged('#msg', 'toBeHidden', SOON), HELD);
  t.equal(await outcome('wait', '!{h2}Delete entry?', SOON), HELD);
  t.same(await locators(), ['{input}Title', '{button}Save', '{button}Delete']);
  await call('act', '{input}Title', 'input', 'New');
  await call('act', '{button}Save', 'click');
  t.equal(await call('page', 'document.title'), 'saved');
  t.match(await failure('act', '{button}Edit', 'click', PRESS), { error: / is behind \{dialog\}Edit entry/ });
});

/** What lies behind something, asked for in every way. */
const LAYERS = {
  'dialog:modal': {
    wrap: (page: string, layer: string) => `${page}<dialog id=layer aria-label=Layer>${layer}</dialog>`,
    show: `show('layer')`,
    why: / is behind \{dialog\}Layer/,
  },
  inert: {
    wrap: (page: string, layer: string) => `<main inert>${page}</main><section>${layer}</section>`,
    show: '',
    why: / is inert/,
  },
  'aria-modal': {
    wrap: (page: string, layer: string) =>
      `${page}<div role=dialog aria-modal=true aria-label=Layer style="position:fixed;left:300px;top:300px;width:400px">${layer}</div>`,
    show: '',
    why: / is behind \{(dialog|div)\}Layer/,
  },
};

for (const [kind, { wrap, show, why }] of Object.entries(LAYERS)) {
  const openLayer = async (page: string, layer: string) => {
    await open(wrap(page, layer));
    await run(show);
  };
  /** A person can click what only says that something else is modal; a selector names what it wants. */
  const onlySays = kind === 'aria-modal';

  t.test(`what is behind is read, counted and waited for, and not used: ${kind}`, async (t) => {
    await openLayer(
      `${inside('Page', 1)}<input id=field aria-label=Field value=kept><input id=ticked type=checkbox checked aria-label=Ticked>
      <button id=off disabled>Off</button>`,
      inside('Layer', 2),
    );
    t.same(await locators(), ['{button}Use Layer']);
    for (const [locator, text] of [
      ['{button}Use Page', 'Use Page'],
      ['button[data-n="1"]', 'Use Page'],
      ['//button[@data-n="1"]', 'Use Page'],
      ['{h2}Page title', 'Page title'],
      ['{p}Page text', 'Page text'],
      ['//h2[.="Page title"]', 'Page title'],
    ] as const) {
      t.same(await isThere(locator), THERE, locator);
      t.equal(await call('text', locator), text, locator);
      t.equal(await textOf(locator, text), HELD, locator);
      t.equal(await judged(locator, 'toContainText', 'Page', SOON), HELD, locator);
      t.equal(await countOf(locator, 1), HELD, locator);
      if (onlySays && !locator.startsWith('{')) continue;
      t.match(await failure('act', locator, 'click', PRESS), { code: 'ACTION_FAILED', error: why }, locator);
    }
    t.equal(await call('page', 'heard.join()'), '');
    for (const field of ['{input}Field', '#field', '//input[@id="field"]']) {
      t.equal(await call('value', field), 'kept', field);
      t.equal(await judged(field, 'toHaveValue', 'kept', SOON), HELD, field);
      t.equal(await judged(field, 'toBeEnabled', SOON), HELD, field);
      t.equal(await judged(field, 'toHaveAttribute', 'value', 'kept', SOON), HELD, field);
    }
    for (const box of ['{checkbox}Ticked', '#ticked']) t.equal(await judged(box, 'toBeChecked', SOON), HELD, box);
    for (const off of ['{button}Off', '#off']) t.equal(await judged(off, 'toBeDisabled', SOON), HELD, off);
    t.equal(await act('{button}Use Layer'), 'held 2');
    if (onlySays) t.equal(await act('button[data-n="1"]'), 'held 1', 'a selector names what it wants');
  });

  t.test(`of one match on top and one behind the one on top is meant: ${kind}`, async (t) => {
    await openLayer(
      `${button('Both', 1, 'class=both')}<p data-n=3>Note</p><a href="#" data-n=5 onclick="say(5)">Link</a>`,
      `${button('Both', 2, 'class=both')}<p data-n=4>Note</p><a href="#" data-n=6 onclick="say(6)">Link</a>`,
    );
    for (const [locator, n] of [
      ['{button}Both', 2],
      ['.both', 2],
      ['//button', 2],
      ['{p}Note', 4],
      ['//p', 4],
      ['{a}Link', 6],
    ] as const) {
      t.equal(await countOf(locator, 2), HELD, `${locator} counts`);
      t.equal(await means(locator, n), HELD, `${locator} is read`);
      t.same(await isThere(locator), THERE, locator);
      const came = await act(locator);
      t.equal(came, n === 4 ? HELD : `held ${n}`, `${locator} is acted on`);
    }
  });

  t.test(`what is usable is numbered, and what is behind is there: ${kind}`, async (t) => {
    const six = [1, 2, 3, 4, 5, 6].map((n) => button('Del', n)).join('');
    await openLayer(six, button('Del', 7));
    t.equal(await countOf('{button}Del', 7), HELD);
    t.equal(await means('{button:1}Del', 7), HELD);
    t.equal(await means('{button}Del', 7), HELD);
    t.equal(await outcome('wait', '!{button:3}Del', NEVER), 'WAIT_TIMEOUT');
    t.equal(await outcome('wait', '!{button:7}Del', NEVER), 'WAIT_TIMEOUT');
    t.equal(await outcome('wait', '!{button:8}Del', SOON), HELD);
    t.equal(await judged('{button:3}Del', 'toBeHidden', NEVER), 'MATCH_FAILED');
    t.equal(await judged('{button:8}Del', 'toBeHidden', SOON), HELD);
    t.not(await outcome('act', '{button:3}Del', 'click', PRESS), HELD);
    t.equal(await call('page', 'heard.join()'), '', 'none is pressed in the place of another');
    t.equal(await act('{button:1}Del'), 'held 7');
    t.equal(await act('{button}Del'), 'held 7');
    t.same(await locators(), ['{button}Del']);
  });

  t.test(`where nothing of a name is usable its numbers are read: ${kind}`, async (t) => {
    const six = [1, 2, 3, 4, 5, 6].map((n) => button('Del', n)).join('');
    await openLayer(six, button('Done', 7));
    t.equal(await countOf('{button}Del', 6), HELD);
    for (const n of [1, 3, 6]) t.equal(await means(`{button:${n}}Del`, n), HELD, String(n));
    t.equal(await call('text', '{button:3}Del'), 'Del');
    t.same(await isThere('{button:3}Del'), THERE);
    t.equal(await outcome('text', '{button}Del'), 'LOCATOR_AMBIGUOUS', 'several behind and none on top');
    t.equal(await outcome('text', '{button:7}Del'), 'LOCATOR_NOT_FOUND');
    t.match(await failure('act', '{button:3}Del', 'click', PRESS), { code: 'ACTION_FAILED', error: why });
    t.equal(await call('page', 'heard.join()'), '');
  });
}

const NAMES = ['A', 'B', 'C'] as const;
const ORDERS = NAMES.flatMap((first) =>
  NAMES.filter((name) => name !== first).map((second) => {
    const third = NAMES.find((name) => name !== first && name !== second) ?? first;
    return [first, second, third] as const;
  }),
);
const NUMBERS = { A: 1, B: 2, C: 3 };

for (const [first, second, third] of ORDERS) {
  t.test(`of three modal dialogs the one opened last is on top: ${first}, ${second}, ${third}`, async (t) => {
    await open(inside('Page', 9) + NAMES.map((name, at) => dialog(name, at + 1)).join(''));
    const onTop = (what: string, name: (typeof NAMES)[number], ...behind: readonly string[]) =>
      isOnTop(t, what, { [name]: NUMBERS[name] }, [...behind, 'Page'], behindDialog(name));
    await run(`show('${first}', '${second}', '${third}')`);
    await onTop('three', third, first, second);
    await run(`close('${first}')`);
    await onTop('the lowest closed', third, second);
    t.equal(await outcome('wait', `!{h2}${first} title`, SOON), HELD, 'the closed one has gone');
    await run(`show('${first}')`);
    await onTop('the lowest opened again', first, second, third);
    await run(`close('${first}')`);
    await onTop('the highest closed', third, second);
    await run(`close('${third}')`);
    await onTop('one left', second);
    await run(`close('${second}')`);
    await isOnTop(t, 'none left', { Page: 9 }, [], /never/);
  });
}

/** Two dialogs in either order of the document, the one called Upper opened last. */
const PAIRS = (upper: string, lower: string) =>
  [
    ['upper first', upper + lower],
    ['lower first', lower + upper],
  ] as const;
const UPPER = { Upper: 2 };
const LOWER = ['Lower'];

t.test('a modal dialog in a shadow root is on top if it was opened last', async (t) => {
  const upper = dialog('Upper', 2);
  const lower = dialog('Lower', 1);
  for (const mode of ['open', 'closed']) {
    for (const enclosed of [['Upper'], ['Lower'], ['Upper', 'Lower']]) {
      for (const [order, dialogs] of PAIRS(upper, lower)) {
        await open(inside('Page', 9) + dialogs);
        await run(enclosed.map((id) => `enclose('${id}', '${mode}')`).join(';'));
        await run(`show('Lower', 'Upper')`);
        await isOnTop(t, `${mode} around ${enclosed.join(' and ')}, ${order}`, UPPER, LOWER, behindDialog('Upper'));
      }
    }
    for (const [order, dialogs] of PAIRS(upper, lower)) {
      const what = `${mode}, ${order}`;
      await open(inside('Page', 9));
      await run(`const host = document.createElement('div'); document.body.append(host);
        const root = host.attachShadow({ mode: '${mode}' }); roots.push(root);
        root.innerHTML = ${JSON.stringify(dialogs)}; show('Lower', 'Upper')`);
      await isOnTop(t, `both in one root, ${what}`, UPPER, LOWER, behindDialog('Upper'));
      await open(inside('Page', 9) + dialogs);
      await run(`enclose('Upper', '${mode}'); const outer = document.createElement('div'), inner = box('Upper').getRootNode().host;
        inner.replaceWith(outer); const root = outer.attachShadow({ mode: '${mode}' }); root.append(inner);
        show('Lower', 'Upper')`);
      await isOnTop(t, `in two roots, ${what}`, UPPER, LOWER, behindDialog('Upper'));
    }
    await open(`${inside('Page', 9)}<div id=host>${inside('Slotted', 3)}</div>${lower}`);
    await run(`const root = document.getElementById('host').attachShadow({ mode: '${mode}' }); roots.push(root);
      root.innerHTML = ${JSON.stringify(dialog('Upper', 2, { more: '<slot></slot>' }))}; show('Lower', 'Upper')`);
    await isOnTop(t, `${mode} with a slot`, { Upper: 2, Slotted: 3 }, LOWER, / is behind \{dialog\}Upper title/);
  }
});

t.test('a modal dialog is on top whatever its shape', async (t) => {
  const corner = 'margin:0;inset:auto;left:0;top:0;width:120px;height:140px';
  const aside = 'margin:0;inset:auto;right:0;bottom:0;width:140px;height:150px';
  const hole = 'polygon(evenodd, 0 0, 100% 0, 100% 100%, 0 100%, 0 0, 20% 50%, 80% 50%, 80% 90%, 20% 90%, 20% 50%)';
  const shapes: readonly (readonly [name: string, style: string, css?: string, lower?: string])[] = [
    ['small and in a corner', corner, '', aside],
    ['in a corner, without a backdrop', corner, '#Upper::backdrop { display: none }', aside],
    ['in a corner, with a backdrop for no pointer', corner, '#Upper::backdrop { pointer-events: none }', aside],
    ['in a corner, no backdrop at all', corner, 'dialog::backdrop { display: none }', aside],
    ['under where the lower one is', corner, '#Upper::backdrop { display: none }', 'width:90vw;height:90vh'],
    [
      'a middle for no pointer',
      'pointer-events:none;width:400px;height:400px',
      '#Upper h2, #Upper button { pointer-events: auto }',
    ],
    ['for no pointer', 'pointer-events:none', '#Upper button { pointer-events: auto }'],
    [
      'for no pointer, without a backdrop',
      `pointer-events:none;${corner}`,
      '#Upper button { pointer-events: auto } dialog::backdrop { display: none }',
      aside,
    ],
    ['with a hole', `width:400px;height:400px;clip-path:${hole}`],
    ['with a hole, without a backdrop', `width:400px;height:400px;clip-path:${hole}`, '::backdrop { display: none }'],
    ['round', 'width:300px;height:300px;border-radius:50%;padding:80px', '#Upper::backdrop { display: none }'],
    ['turned', `${corner};rotate:45deg;left:300px;top:300px`, '#Upper::backdrop { display: none }', aside],
    [
      'of no size',
      'width:0;height:0;padding:0;border:0;overflow:visible',
      '#Upper > * { width: 90px } ::backdrop { display: none }',
    ],
    ['low in the layers', 'z-index:-1', '#Lower { z-index: 9 }'],
    ['placed in the page', 'position:absolute;top:20px', '#Upper::backdrop { display: none }'],
    ['faint', 'opacity:.01', '#Upper::backdrop { opacity: 0 }'],
  ];
  for (const [name, style, css = '', lowerStyle = ''] of shapes) {
    const upper = dialog('Upper', 2, { style });
    for (const [order, dialogs] of PAIRS(upper, dialog('Lower', 1, { style: lowerStyle }))) {
      await open(`<style>${css}</style>${inside('Page', 9)}${dialogs}`);
      await run(`show('Lower', 'Upper')`);
      await isOnTop(t, `${name}, ${order}`, UPPER, LOWER, behindDialog('Upper'));
    }
  }
});

t.test('a dialog inside another one in the document is above or below it, as they were opened', async (t) => {
  await open(
    inside('Page', 9) +
      dialog('Outer', 1, { more: dialog('Inner', 2, { style: 'margin:0;inset:auto;right:0;bottom:0' }) }),
  );
  await run(`show('Outer', 'Inner')`);
  await isOnTop(t, 'the inner one last', { Inner: 2 }, ['Outer', 'Page'], behindDialog('Inner'));
  await run(`close('Inner'); close('Outer'); show('Inner', 'Outer')`);
  // The inner one is part of the outer one, whose backdrop lies over it.
  t.same(await locators(), ['{button}Use Outer']);
  t.same(await isThere('{button}Use Inner'), THERE);
  t.equal(await outcome('act', '{button}Use Inner', 'click', PRESS), 'ACTION_FAILED');
  await run(
    `document.head.append(Object.assign(document.createElement('style'), { textContent: '::backdrop { display: none }' }))`,
  );
  t.same(await locators(), ['{button}Use Outer', '{button}Use Inner']);
  t.equal(await act('{button}Use Inner'), 'held 2');
  t.equal(await act('{button}Use Outer'), 'held 1');
  await isBehind(t, 'the outer one last', '{button}Use Page', behindDialog('Outer'));
});

const POPOVER = `<div id=tip popover=manual style="margin:0;left:0;top:300px">${inside('Tip', 3)}</div>`;

t.test('a popover over a modal dialog is usable from inside the dialog, and is read outside', async (t) => {
  for (const [order, page] of PAIRS(dialog('Upper', 2), POPOVER)) {
    await open(inside('Page', 9) + page);
    await run(`show('Upper'); box('tip').showPopover()`);
    await isOnTop(t, `outside, ${order}`, UPPER, ['Tip', 'Page'], behindDialog('Upper'));
    await run(`close('Upper')`);
    t.equal(await act('{button}Use Tip'), 'held 3', `closed, ${order}`);
  }
  await open(inside('Page', 9) + dialog('Upper', 2, { more: POPOVER }));
  await run(`show('Upper'); box('tip').showPopover()`);
  await isOnTop(t, 'inside', { Upper: 2, Tip: 3 }, ['Page'], behindDialog('Upper'));
  await open(inside('Page', 9) + dialog('Upper', 2) + dialog('Lower', 1, { more: POPOVER }));
  await run(`show('Lower', 'Upper'); box('tip').showPopover()`);
  await isOnTop(t, 'inside the lower one', UPPER, ['Lower', 'Tip', 'Page'], behindDialog('Upper'));
  await run(`close('Upper')`);
  await isOnTop(t, 'the upper one closed', { Lower: 1, Tip: 3 }, ['Page'], behindDialog('Lower'));
  await open(inside('Page', 9) + dialog('Upper', 2, { more: POPOVER }) + dialog('Lower', 1));
  await run(`show('Lower', 'Upper'); box('tip').style.cssText = 'inset:0;margin:0;width:100vw;height:100vh';
    box('tip').showPopover()`);
  await isBehind(t, 'a popover over everything', '{button}Use Lower', behindDialog('Upper'));
  t.equal(await act('{button}Use Tip'), 'held 3');
  t.match(await failure('act', '{button}Use Upper', 'click', PRESS), { code: 'ACTION_FAILED', error: / is covered / });
});

t.test('a notice that moves into the dialog and out again is usable where it stands', async (t) => {
  await open(inside('Page', 9) + POPOVER + dialog('Upper', 2));
  await run(`box('tip').showPopover(); show('Upper')`);
  await isOnTop(t, 'below', UPPER, ['Tip', 'Page'], behindDialog('Upper'));
  await run(`box('tip').hidePopover(); box('tip').showPopover()`);
  await isOnTop(t, 'shown again', UPPER, ['Tip', 'Page'], behindDialog('Upper'));
  await run(`box('Upper').append(box('tip')); box('tip').showPopover()`);
  await isOnTop(t, 'moved in', { Upper: 2, Tip: 3 }, ['Page'], behindDialog('Upper'));
  await run(`document.body.append(box('tip')); box('tip').showPopover()`);
  await isOnTop(t, 'moved out', UPPER, ['Tip', 'Page'], behindDialog('Upper'));
});

t.test('a dialog that is not modal makes nothing inert', async (t) => {
  for (const [name, how] of [
    ['show', `box('Upper').show()`],
    ['popover', `box('Upper').popover = 'manual'; box('Upper').showPopover()`],
    ['the attribute', `box('Upper').setAttribute('open', '')`],
    ['taken out and put back', `show('Upper'); const it = box('Upper'); it.remove(); document.body.append(it)`],
    ['closed by its attribute', `show('Upper'); close('Upper'); box('Upper').setAttribute('open', '')`],
  ] as const) {
    await open(inside('Page', 9) + dialog('Upper', 2, { style: 'margin:0;inset:auto;right:0;bottom:0' }));
    await run(how);
    await isOnTop(t, name, { Page: 9, Upper: 2 }, [], /never/);
  }
  await open(inside('Page', 9) + dialog('Upper', 2));
  await run(`show('Upper'); box('Upper').remove()`);
  await isOnTop(t, 'taken out', { Page: 9 }, [], /never/);
});

t.test('a modal dialog that is not rendered lets nothing behind it be used', async (t) => {
  await open(inside('Page', 9) + dialog('Upper', 2));
  await run(`show('Upper'); box('Upper').style.display = 'none'`);
  // This is the browser's own judgement: nothing of the page is hit by a pointer.
  t.equal(await call('page', `document.elementFromPoint(20, 70)?.localName`), 'html');
  t.same(await isThere('{button}Use Page'), THERE);
  t.equal(await call('text', '{p}Page text'), 'Page text');
  t.equal(await outcome('act', '{button}Use Page', 'click', PRESS), 'ACTION_FAILED');
  t.equal(await call('page', 'heard.join()'), '');
  await run(`close('Upper')`);
  t.equal(await act('{button}Use Page'), 'held 9');
});

t.test('a modal dialog inside what is inert is usable, and one that is inert itself is not', async (t) => {
  await open(
    `<main inert>${inside('Page', 9)}${dialog('Upper', 2, { more: `<div inert>${inside('Part', 3)}</div>` })}</main>`,
  );
  await run(`show('Upper')`);
  // Such a dialog escapes from what is inert around it; that is the browser's doing.
  const hit = await call(
    'page',
    `const at = document.querySelector('[data-n="2"]').getBoundingClientRect();
    document.elementFromPoint(at.x + 5, at.y + 5)?.dataset?.n ?? null`,
  );
  t.equal(hit, '2', 'the browser lets the dialog be hit');
  await isOnTop(t, 'inside', UPPER, ['Part'], / is inert/);
  await isBehind(t, 'inside', '{button}Use Page', / is (inert|behind \{dialog\}Upper title)/);
  await open(inside('Page', 9) + dialog('Upper', 2));
  await run(`show('Upper'); box('Upper').inert = true`);
  t.same(await locators(), []);
  await isBehind(t, 'itself', '{button}Use Upper', / is inert/);
  await isBehind(t, 'itself', '{button}Use Page', / is (inert|behind \{dialog\}Upper title)/);
  t.equal(await call('text', '{p}Upper text'), 'Upper text');
});

t.test('what fills the screen only covers, and lies behind a modal dialog that it is not part of', async (t) => {
  const full = (more = '') =>
    `<section id=full style="background:#fff">${inside('Full', 3)}<button onclick="box('full').requestFullscreen().then(() => { document.title = 'Filled' })">Fill</button>${more}</section>`;
  const filled = async (): Promise<void> => {
    await call('act', '{button}Fill', 'click');
    t.equal(await outcome('expect', null, 'toHaveTitle', { not: false, values: ['Filled'] }), HELD);
  };
  for (const [order, page] of PAIRS(dialog('Upper', 2), full())) {
    await open(inside('Page', 9) + page);
    await filled();
    t.same(await isThere('{button}Use Page'), THERE, order);
    t.match(await failure('act', '{button}Use Page', 'click', PRESS), { code: 'ACTION_FAILED', error: / is covered / });
    t.equal(await act('{button}Use Full'), 'held 3', order);
    await run(`show('Upper')`);
    await isOnTop(t, `beside, ${order}`, UPPER, ['Full', 'Page'], behindDialog('Upper'));
    await run(`close('Upper')`);
    t.equal(await act('{button}Use Full'), 'held 3', `${order}, closed`);
  }
  await open(inside('Page', 9) + full(dialog('Upper', 2)));
  await filled();
  await run(`show('Upper')`);
  await isOnTop(t, 'around it', UPPER, ['Full', 'Page'], behindDialog('Upper'));
  await open(inside('Page', 9) + dialog('Upper', 2, { more: full() }));
  await run(`show('Upper')`);
  await filled();
  t.equal(await act('{button}Use Full'), 'held 3', 'inside it');
  await isBehind(t, 'inside it', '{button}Use Page', behindDialog('Upper'));
  await call('page', 'document.exitFullscreen().then(() => 0)');
});

/** What was heard, once something was; a frame of another origin tells it late. */
const heardLate = () =>
  call(
    'page',
    `new Promise((resolve) => {
      const ask = (left) => heard.length > 0 || left === 0 ? resolve(heard.splice(0).join()) : setTimeout(ask, 10, left - 1);
      ask(100);
    })`,
  );
async function actLate(locator: string): Promise<string> {
  const failed = await failure('act', locator, 'click');
  return `${failed === null ? HELD : `${failed.code}: ${failed.error}`} ${await heardLate()}`.trim();
}
const FRAME = /(is behind \{dialog\}Upper title|is in a frame that is behind a modal dialog)/;

for (const [kind, home] of [
  ['the same origin', site],
  ['another origin', neighbour],
] as const) {
  const frame = (html: string) =>
    `<iframe style="width:500px;height:250px" src="${home.set('/inner', `<!doctype html><meta charset=utf-8>${TOOLS}${html}`)}"></iframe>`;

  t.test(`a frame behind a modal dialog is read, and not used: ${kind}`, async (t) => {
    await open(
      `${inside('Page', 9)}${frame(`${inside('Inner', 5)}${button('Both', 6)}${button('Twice', 3)}${button('Twice', 4)}`)}
      ${dialog('Upper', 2, { more: button('Both', 7) })}`,
    );
    t.equal(await outcome('wait', '{button}Use Inner', SOON), HELD);
    t.equal(await actLate('{button}Use Inner'), 'held 5', 'before');
    await run(`show('Upper')`);
    t.same(await locators(), ['{button}Use Upper', '{button}Both']);
    for (const [locator, text] of [
      ['{button}Use Inner', 'Use Inner'],
      ['button[data-n="5"]', 'Use Inner'],
      ['//button[@data-n="5"]', 'Use Inner'],
      ['{h2}Inner title', 'Inner title'],
      ['{p}Inner text', 'Inner text'],
    ] as const) {
      t.equal(await call('text', locator), text, locator);
      t.equal(await textOf(locator, text), HELD, locator);
      await isBehind(t, kind, locator, FRAME);
    }
    await isBehind(t, kind, '{button}Use Page', behindDialog('Upper'));
    t.equal(await countOf('{button}Both', 2), HELD);
    t.equal(await means('{button}Both', 7), HELD);
    t.equal(await outcome('wait', '!{button:2}Both', NEVER), 'WAIT_TIMEOUT');
    t.equal(await outcome('wait', '!{button:3}Both', SOON), HELD);
    t.equal(await countOf('{button}Twice', 2), HELD);
    t.equal(await means('{button:2}Twice', 4), HELD);
    t.equal(await outcome('text', '{button}Twice'), 'LOCATOR_AMBIGUOUS', 'several behind and none on top');
    t.match(await failure('act', '{button:2}Twice', 'click', PRESS), { code: 'ACTION_FAILED', error: FRAME });
    t.equal(await actLate('{button}Both'), 'held 7');
    await run(`close('Upper')`);
    t.equal(await actLate('{button}Use Inner'), 'held 5', 'after');
  });

  t.test(`a modal dialog inside a frame rules in that frame alone: ${kind}`, async (t) => {
    await open(
      inside('Page', 9) +
        frame(
          `${inside('Inner', 5)}${dialog('Upper', 2)}${dialog('Lower', 1)}<script>show('Lower', 'Upper')</script>`,
        ) +
        dialog('Own', 3),
    );
    t.equal(await outcome('wait', '{button}Use Upper', SOON), HELD);
    t.same(await locators(), ['{button}Use Page', '{button}Use Upper']);
    for (const name of ['Lower', 'Inner']) {
      t.equal(await call('text', `{p}${name} text`), `${name} text`);
      await isBehind(t, kind, `{button}Use ${name}`, behindDialog('Upper'));
    }
    t.equal(await actLate('{button}Use Upper'), 'held 2');
    t.equal(await actLate('{button}Use Page'), 'held 9');
    await run(`show('Own')`);
    t.same(await locators(), ['{button}Use Own']);
    for (const name of ['Upper', 'Lower', 'Inner', 'Page']) {
      t.equal(await call('text', `{p}${name} text`), `${name} text`);
      await isBehind(
        t,
        `${kind}, with one outside`,
        `{button}Use ${name}`,
        /behind (a modal dialog|\{dialog\}(Own|Upper) title)/,
      );
    }
    t.equal(await actLate('{button}Use Own'), 'held 3');
    await run(`close('Own')`);
    t.equal(await actLate('{button}Use Upper'), 'held 2', 'the one outside closed');
  });
}

t.test('a frame inside a modal dialog is usable', async (t) => {
  for (const [kind, home] of [
    ['the same origin', site],
    ['another origin', neighbour],
  ] as const) {
    const inner = home.set('/inside', `<!doctype html><meta charset=utf-8>${TOOLS}${inside('Inner', 5)}`);
    await open(
      inside('Page', 9) + dialog('Upper', 2, { more: `<iframe src="${inner}"></iframe>` }) + dialog('Lower', 1),
    );
    await run(`show('Lower', 'Upper')`);
    t.equal(await outcome('wait', '{button}Use Inner', SOON), HELD, kind);
    t.same(await locators(), ['{button}Use Upper', '{button}Use Inner'], kind);
    t.equal(await actLate('{button}Use Inner'), 'held 5', kind);
    await isBehind(t, kind, '{button}Use Lower', behindDialog('Upper'));
  }
});

t.test('what is behind a dialog that has no such button is refused, and not taken for a text', async (t) => {
  for (const [kind, page] of [
    ['aria-modal', '<div role=dialog aria-modal=true aria-label=Upper style="position:fixed;left:300px;top:300px">'],
    ['dialog:modal', '<dialog id=Upper aria-label=Upper>'],
  ] as const) {
    await open(`${button('Save', 1)}${page}${button('Cancel', 2)}`);
    await run(`if (box('Upper')) show('Upper')`);
    t.match(
      await failure('act', '{button}Save', 'click', PRESS),
      { code: 'ACTION_FAILED', error: / is behind \{\w+\}Upper/ },
      kind,
    );
    t.equal(await call('page', 'heard.join()'), '', kind);
    t.equal(await call('text', '{button}Save'), 'Save', kind);
    t.equal(await countOf('{button}Save', 1), HELD, kind);
    t.equal(await act('{button}Cancel'), 'held 2', kind);
    t.same(await locators(), ['{button}Cancel'], kind);
  }
});

t.test('an act waits for the dialog that it is behind to close, and is done once', async (t) => {
  const declared = '<div id=Upper role=dialog aria-modal=true style="position:fixed;left:300px;top:300px">Wait</div>';
  for (const [kind, page, begin, end] of [
    ['dialog:modal', dialog('Upper', 2), `show('Upper')`, `close('Upper')`],
    ['taken out', dialog('Upper', 2), `show('Upper')`, `box('Upper').remove()`],
    ['aria-modal', declared, '', `box('Upper').remove()`],
    ['inert', '', 'document.body.inert = true', 'document.body.inert = false'],
    ['two', dialog('Upper', 2) + dialog('Lower', 1), `show('Lower', 'Upper')`, `close('Lower'); close('Upper')`],
  ] as const) {
    await open(inside('Page', 9) + page);
    await run(`${begin}; setTimeout(() => { ${end} }, 400)`);
    t.equal(await act('{button}Use Page', { timeout: 10_000 }), 'held 9', kind);
    t.equal(
      await call('page', 'new Promise((resolve) => requestAnimationFrame(() => resolve(heard.join())))'),
      '',
      kind,
    );
  }
});

t.test('a frame of another origin is waited for, and has not gone while it is there', async (t) => {
  const inner = neighbour.set('/there', `<!doctype html><meta charset=utf-8>${TOOLS}${inside('Inner', 5)}`);
  await open(`${inside('Page', 9)}<iframe id=frame src="${inner}"></iframe>`);
  for (const locator of ['{button}Use Inner', '{h2}Inner title', '[data-n="5"]', '//h2[.="Inner title"]']) {
    t.equal(await outcome('wait', locator, SOON), HELD, locator);
    t.same(await isThere(locator), THERE, locator);
  }
  await run(`document.getElementById('frame').remove()`);
  t.equal(await outcome('wait', '!{button}Use Inner', SOON), HELD);
});

t.test('what is in a shadow root inside a closed one is usable', async (t) => {
  for (const mode of ['open', 'closed']) {
    await open('<div id=place></div>');
    await run(`const outer = document.getElementById('place').attachShadow({ mode: 'closed' });
      const inner = outer.appendChild(document.createElement('div')).attachShadow({ mode: '${mode}' });
      inner.innerHTML = ${JSON.stringify(inside('Page', 9))}`);
    t.equal(await act('{button}Use Page'), 'held 9', mode);
  }
});

t.end();
