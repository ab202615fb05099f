import t from 'tap';
import type { WholeLook } from '#troupe/agent-js/look/look.js';
import { WORLD } from '#troupe/page/page-calls.js';
import { encodeError } from '#troupe/protocol/errors.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { agent, browser, callFrom } = await openAgent(t, lease, { actMs: 2_000, policy: 'off' });

/** Where the agent's script runs in the newest document of the page. */
let world: number | undefined;
browser.listen(({ method, params, session }) => {
  if (method !== 'Runtime.executionContextCreated' || session !== agent.activePage) return;
  if (params.context.name === WORLD) world = params.context.id;
});

/** Flows begin without numbers: each page is used by a flow of its own. */
let flowRun = 0;
const call = (method: string, ...args: readonly unknown[]) => callFrom({ flowRun }, method, ...args);
const open = (html: string) => {
  flowRun += 1;
  return call('go', site.set('/rendered', `<!doctype html><title>Rendered</title>${html}`));
};
/** What a look prints; the numbers of the page's calls are those of the look from then on. */
async function locators(): Promise<string[]> {
  const { elements } = (await call('look', { full: true })) as WholeLook;
  return elements.map(({ locator }) => locator);
}

/** Is given to what holds at once. */
const SOON = { timeout: 1_000 };
/** Is given to what must not come true. */
const NEVER = { timeout: 20 };
/** Is given to an act that may be refused. */
const PRESS = { timeout: 200 };
const HELD = 'held';

/** HELD, or the code that a call fails with. */
async function outcome(method: string, ...args: readonly unknown[]): Promise<string> {
  return call(method, ...args).then(
    () => HELD,
    (error: unknown) => encodeError(error).code,
  );
}
const judged = (locator: string, matcher: string, ...values: readonly unknown[]) =>
  outcome('expect', locator, matcher, { not: false, values });
const countOf = (locator: string, count: number) => judged(locator, 'toHaveCount', count, SOON);
/** Whether a locator means the element with this number of the page's own. */
const means = (locator: string, n: number) => judged(locator, 'toHaveAttribute', 'data-n', String(n), SOON);

/** What came of an act: its own outcome, and the numbers of what heard a click. */
async function act(locator: string, options = {}): Promise<string> {
  await call('page', `pressed.textContent = ''; 0`);
  const came = await call('act', locator, 'click', options).then(
    () => HELD,
    (error: unknown) => {
      const { code, error: text } = encodeError(error);
      return code === 'ACTION_FAILED' && text.includes('covered') ? 'covered' : code;
    },
  );
  return `${came} ${await call('text', '#pressed')}`.trim();
}

/** What is true of everything that is rendered, whatever covers it. */
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

const REPORT = `<p id=pressed style="position:absolute;right:0;bottom:0;margin:0"></p><script>
  document.addEventListener('click', (event) => {
    const { n } = event.target.dataset;
    if (n !== undefined) pressed.textContent += n + ' ';
  });
</script>`;
const button = (name: string, n: number) => `<button data-n=${n}>${name}</button>`;
const range = (to: number) => Array.from({ length: to }, (_, at) => at + 1);

/** Twenty rows of 20 px in a box that shows three of them. */
const rows = (text: (n: number) => string = () => '', pinned = '') =>
  `<style>#box { position: relative; overflow: auto; height: 60px; width: 300px } .row { font: 14px/20px sans-serif; height: 20px }
    .row span { cursor: pointer; display: inline-block }</style>
  <div id=box>${pinned}${range(20)
    .map((n) => `<div class=row><span data-n=${n}>+</span>${text(n)}</div>`)
    .join('')}</div>`;

const cover = (position: string, attributes = '') =>
  `<div id=cover ${attributes} style="position:${position};inset:auto;left:0;top:0;margin:0;border:0;padding:0;background:#eee">tip</div>`;
const COVERS = {
  'in the page': rows() + cover('absolute'),
  fixed: rows() + cover('fixed'),
  'sticky in the box': rows(
    undefined,
    `<div style="position:sticky;top:0;height:0;z-index:1">${cover('absolute')}</div>`,
  ),
  'a popover': `${rows()}${cover('absolute', 'popover=manual')}<script>cover.showPopover()</script>`,
  // What a look prints then has the rows' texts, and is not the sign alone.
  'over rows with a text': rows((n) => ` row ${n}`) + cover('absolute'),
};
/** Puts the cover over a row that is scrolled to a place in the box, 0 to 2. */
const OVER = `<script>
  const over = (n, place) => {
    const row = box.querySelectorAll('.row')[n - 1];
    box.scrollTop = row.offsetTop - 20 * place;
    Object.assign(cover.style, { left: 0, top: 0 });
    const [from, to] = [cover.getBoundingClientRect(), row.getBoundingClientRect()];
    const [left, top, width, height] = [to.left - from.left, to.top - from.top, to.width, to.height].map((px) => px + 'px');
    Object.assign(cover.style, { left, top, width, height });
    if (document.elementFromPoint(to.left + 3, to.top + 10) !== cover) throw new Error('It is not covered');
    return 0;
  };
</script>`;

for (const [kind, page] of Object.entries(COVERS)) {
  t.test(`a row under a cover keeps its number, and the others theirs: ${kind}`, async (t) => {
    for (const n of range(11)) {
      await open(page + REPORT + OVER);
      await call('page', `over(${n}, ${n % 3})`);
      const covered = `{span:${n}}+`;
      const far = n === 11 ? 15 : 11;
      const seen = {
        count: await countOf('{span}+', 20),
        one: await countOf(covered, 1),
        own: await means(covered, n),
        far: await means(`{span:${far}}+`, far),
        ...(await isThere(covered)),
      };
      t.same(seen, { count: HELD, one: HELD, own: HELD, far: HELD, ...THERE }, `row ${n}`);
      t.equal(await act(`{span:${far}}+`, PRESS), `held ${far}`, `row ${n}: far away`);
      await call('page', `over(${n}, ${n % 3})`);
      t.match(await act(covered, PRESS), new RegExp(`^(held ${n}|covered)$`), `row ${n} itself`);
    }
  });
}

t.test('a look may leave a covered row out, and numbers the others as if it were there', async (t) => {
  const three = range(3).map((n) => `<div class=row><span data-n=${n} style="cursor:pointer">+</span></div>`);
  await open(`<div id=box>${three.join('')}</div>${cover('absolute')}${OVER}`);
  for (const [n, listed] of [
    [2, ['{span:1}+', '{span:3}+']],
    [1, ['{span:2}+', '{span:3}+']],
    [3, ['{span:1}+', '{span:2}+']],
  ] as const) {
    await call('page', `over(${n}, 0)`);
    t.same(await locators(), listed);
    for (const locator of listed) t.equal(await means(locator, Number(/\d/.exec(locator)?.[0])), HELD, locator);
  }
});

t.test('rows that the edge of their box cuts, however little of them it leaves, are counted', async (t) => {
  const cut = `${rows()}<style>.row { height: var(--row) } .row span { display: block; height: 100% }</style>`;
  await open(cut);
  const emulate = (deviceScaleFactor: number) =>
    browser.send(
      'Emulation.setDeviceMetricsOverride',
      { width: 1280, height: 720, mobile: false, deviceScaleFactor },
      { session: agent.activePage },
    );
  const wrong: string[] = [];
  for (const [nth, scale] of [1, 1.25, 1.5].entries()) {
    await emulate(scale);
    t.equal(await call('page', 'devicePixelRatio'), scale);
    for (let quarters = 40; quarters <= 160; quarters++) {
      const height = quarters / 4;
      // The first row is cut in its middle, all but for a pixel, all but for less than one, or not at all.
      const top = [height / 2, height - 1, height - 0.5, 0][(quarters + Math.floor(height) + nth) % 4];
      for (const n of [20, top === 0 ? Math.ceil(60 / height) : 1]) {
        await call('page', `box.style.setProperty('--row', '${height}px'); box.scrollTop = ${top}; 0`);
        if ((await means(`{span:${n}}+`, n)) === HELD) continue;
        wrong.push(`scale ${scale}, rows of ${height}, scrolled by ${top}: ${n}`);
        // What an error lists has its number in the document from then on.
        await open(cut);
      }
    }
  }
  await emulate(1);
  t.same(wrong, []);
});

t.test('hit tests that answer something else change no number and no count', async (t) => {
  await open(rows());
  /** What `elementFromPoint` answers, by its own answer, the row of that and how often it was asked before. */
  const answers: readonly (readonly [name: string, answer: string])[] = [
    ...range(4).map((n) => [`row ${n} once`, `row === ${n} && isFirst(row) ? next : hit`] as const),
    ...range(4).map((n) => [`row ${n} always`, `row === ${n} ? next : hit`] as const),
    ...range(12).map((n) => [`call ${n}`, `asked === ${n} ? next : hit`] as const),
    ['each row, once', 'isFirst(row) ? next : hit'],
    ['nothing', 'null'],
    ['the root', 'document.documentElement'],
  ];
  const wrong: string[] = [];
  for (const [name, answer] of answers) {
    // Once where nothing has changed since the last call, and once where everything is looked at anew.
    for (const change of ['', 'box.append(document.createElement("i"));']) {
      const expression = `{
        const own = globalThis.own ??= Document.prototype.elementFromPoint;
        let asked = 0;
        const met = new Set();
        const isFirst = (row) => !met.has(row) && met.add(row);
        Document.prototype.elementFromPoint = function (x, y) {
          const hit = own.call(this, x, y);
          const row = Number(hit?.dataset?.n ?? 0);
          const next = hit?.parentElement?.nextElementSibling?.firstElementChild ?? hit;
          asked += 1;
          return ${answer};
        };
        ${change}
      }`;
      for (const [locator, n] of [
        ['{span}+', 0],
        ['{span:2}+', 2],
        ['{span:20}+', 20],
      ] as const) {
        const { exceptionDetails } = await browser.send(
          'Runtime.evaluate',
          { expression, ...(world === undefined ? {} : { contextId: world }) },
          { session: agent.activePage },
        );
        t.equal(exceptionDetails, undefined);
        const held = n === 0 ? await countOf(locator, 20) : await means(locator, n);
        if (held === HELD) continue;
        wrong.push(`${name}${change && ', anew'}: ${locator} ${held}`);
        await open(rows());
      }
    }
  }
  t.same(wrong, []);
});

/** Buttons of one name beside each other, and tips over some of them. */
const buttons = (count: number, under: readonly number[]) =>
  range(count)
    .map((n) => {
      const tip = under.includes(n) ? '<b style="position:absolute;inset:-2px;background:#eee">tip</b>' : '';
      return `<p style="position:relative;width:60px">${button('Del', n)}${tip}</p>`;
    })
    .join('') + REPORT;

t.test('a button under a tip counts, is visible, and is refused when it is pressed', async (t) => {
  await open(buttons(6, [2]));
  t.equal(await countOf('{button}Del', 6), HELD);
  t.equal(await countOf('{button:6}Del', 1), HELD);
  t.same(await isThere('{button:2}Del'), THERE);
  t.equal(await act('{button:3}Del'), 'held 3', 'before a look');
  t.equal(await act('{button:2}Del', PRESS), 'covered');
  t.same(
    await locators(),
    [1, 3, 4, 5, 6].map((n) => `{button:${n}}Del`),
  );
  t.equal(await act('{button:3}Del'), 'held 3', 'after a look');
  t.equal(await act('{button:2}Del', PRESS), 'covered');
  t.equal(await act('{button}Del', PRESS), 'LOCATOR_AMBIGUOUS');
});

t.test('without a number, the one match that nothing covers is meant', async (t) => {
  for (const [under, listed, came] of [
    [[1], ['{button:2}Del'], 'held 2'],
    [[2], ['{button:1}Del'], 'held 1'],
    [[1, 2], [], 'LOCATOR_AMBIGUOUS'],
    [[], ['{button:1}Del', '{button:2}Del'], 'LOCATOR_AMBIGUOUS'],
  ] as const) {
    await open(buttons(2, under));
    t.equal(await act('{button}Del'), came, `under ${under.join()}, before a look`);
    t.same(await locators(), listed, `under ${under.join()}`);
    t.equal(await act('{button}Del'), came, `under ${under.join()}, after a look`);
    for (const locator of listed) {
      t.equal(await act(locator), `held ${/\d/.exec(locator)?.[0]}`, `under ${under.join()}: ${locator}`);
    }
  }
});

const DIALOG = 'position:fixed;left:200px;top:100px;width:300px;height:150px;background:#fff;z-index:10';
const SAVES = `${button('Save', 1)}${button('Save', 2)}${button('Save', 3)}`;
const INSIDE = `${button('Save', 4)}${button('Save', 5)}`;
/** What component libraries put at the end of the body, over a dialog that is open. */
const PORTALS = `<ul role=listbox style="position:absolute;z-index:20;left:220px;top:150px;margin:0;background:#eee">
    <li role=option data-n=6>Red<li role=option data-n=7>Blue</ul>
  <div role=status style="position:fixed;z-index:20;right:20px;top:20px">Saved ${button('Close', 8)}</div>`;

const SHOW = '<script>modal.showModal()</script>';

t.test('what is inert is neither listed nor numbered', async (t) => {
  const modal = (more: string) => `<div role=dialog aria-modal=true style="${DIALOG}">${INSIDE}</div>${more}`;
  const veiled = `<div style="position:fixed;inset:0;background:#0008;z-index:10">${modal('')}</div>`;
  const above = `<div role=dialog aria-modal=true style="${DIALOG};z-index:30">${INSIDE}</div>`;
  const put = `<div role=dialog aria-modal=true style="${DIALOG};display:none">${SAVES}</div>`;
  const saves = ['{button:1}Save', '{button:2}Save'];
  const portals = ['{option}Red', '{option}Blue', '{button}Close'];
  const cases: readonly (readonly [name: string, html: string, listed: readonly string[], rendered?: number])[] = [
    ['aria-modal', SAVES + modal(''), saves],
    ['aria-modal before the page', modal('') + SAVES, saves],
    ['aria-modal on a backdrop', SAVES + veiled, saves],
    ['aria-modal with portals', SAVES + modal(PORTALS), [...saves, ...portals]],
    ['aria-modal on a backdrop with portals', SAVES + veiled + PORTALS, [...saves, ...portals]],
    ['dialog:modal', `${SAVES}<dialog id=modal>${INSIDE}</dialog>${SHOW}`, saves],
    ['dialog:modal over aria-modal', `${modal('')}<dialog id=modal>${INSIDE}</dialog>${SAVES}${SHOW}`, saves, 7],
    ['aria-modal over aria-modal', `<div role=dialog aria-modal=true style="${DIALOG}">${SAVES}</div>${above}`, saves],
    ['aria-modal over a later one', `${above}<div role=dialog aria-modal=true style="${DIALOG}">${SAVES}</div>`, saves],
    ['aria-modal in dialog:modal', `${SAVES}<dialog id=modal>${SAVES}${above}</dialog>${SHOW}`, saves, 8],
    ['aria-modal that is put away beside one', `${put}${SAVES}${modal('')}${put}`, saves],
    ['inert', `<main inert>${SAVES}</main>${INSIDE}`, saves],
    ['inert around what is not', `<main inert><div>${SAVES}</div></main>${INSIDE}<div inert>${SAVES}</div>`, saves, 8],
  ];
  for (const [name, html, listed, rendered = 5] of cases) {
    await open(html + REPORT);
    t.equal(await countOf('{button}Save', rendered), HELD, `${name}: count`);
    t.equal(await means('{button:1}Save', 4), HELD, `${name}: first`);
    t.equal(await means('{button:2}Save', 5), HELD, `${name}: second`);
    t.equal(await act('{button:3}Save', PRESS), 'LOCATOR_NOT_FOUND', `${name}: third`);
    const gone = await outcome('wait', `!{button:${rendered}}Save`, NEVER);
    t.equal(gone, 'WAIT_TIMEOUT', `${name}: as many as are rendered have not gone`);
    t.equal(await outcome('wait', `!{button:${rendered + 1}}Save`, SOON), HELD, `${name}: more than are rendered`);
    t.equal(await act('{button:2}Save'), 'held 5', `${name}: act`);
    t.same(await locators(), listed, `${name}: look`);
    for (const [nth, locator] of listed.slice(2).entries()) t.equal(await act(locator), `held ${6 + nth}`, locator);
  }
});

t.test('a dialog that says it is modal and is not shown makes nothing inert', async (t) => {
  for (const hidden of [
    'display:none',
    'visibility:hidden',
    'opacity:0;pointer-events:none',
    'height:0;overflow:hidden',
    'width:0;overflow:hidden',
    'left:-9999px',
    'transform:translateX(-100vw)',
  ]) {
    await open(`${SAVES}<div role=dialog aria-modal=true style="${DIALOG};${hidden}"><button>Done</button></div>`);
    t.equal(await countOf('{button}Save', 3), HELD, hidden);
    t.same(
      await locators(),
      range(3).map((n) => `{button:${n}}Save`),
      hidden,
    );
  }
});

t.test('what lies over the whole page only covers it', async (t) => {
  const whole = 'position:fixed;inset:0;width:100vw;height:100vh;margin:0;padding:0;border:0;background:#fff';
  const cases: readonly (readonly [name: string, html: string, show: string | null])[] = [
    ['veil', `<div style="${whole}">${button('Save', 4)}</div>`, null],
    ['popover', `<div id=layer popover=manual style="${whole}">${button('Save', 4)}</div>`, 'layer.showPopover()'],
    ['open popover', `<div id=layer popover style="${whole}">${button('Save', 4)}</div>`, 'layer.showPopover()'],
    ['fullscreen', `<div id=layer style="background:#fff">${button('Save', 4)}</div>`, 'layer.requestFullscreen()'],
    ['dialog that is not modal', `<dialog id=layer style="${whole}">${button('Save', 4)}</dialog>`, 'layer.show()'],
  ];
  for (const [name, html, show] of cases) {
    await open(
      `${SAVES}<button id=show>Show</button>${html}${REPORT}<script>
        show.onclick = async () => { await ${show}; document.title = 'Shown'; };
      </script>`,
    );
    // By a press: only that may fill the screen.
    if (show === null) await call('page', 'show.remove(); 0');
    else {
      await call('act', '#show', 'click');
      t.equal(await outcome('expect', null, 'toHaveTitle', { not: false, values: ['Shown'] }), HELD, `${name}: shown`);
    }
    t.equal(await countOf('{button}Save', 4), HELD, `${name}: count`);
    for (const n of range(4)) t.equal(await means(`{button:${n}}Save`, n), HELD, `${name}: ${n}`);
    t.same(await isThere('{button:2}Save'), THERE, name);
    t.equal(await act('{button}Save'), 'held 4', `${name}: the open one`);
    t.equal(await act('{button:2}Save', PRESS), 'covered', `${name}: a covered one`);
    t.same(await locators(), ['{button:4}Save'], `${name}: look`);
    t.equal(await act('{button:4}Save'), 'held 4', `${name}: after the look`);
  }
});

t.test('what is in a frame under a cover counts in the order of the document', async (t) => {
  const other = await openSite(t);
  const inner = `${button('Go', 2)}${button('Go', 3)}`;
  const listener = `<script>document.onclick = ({ target }) => parent.postMessage(target.dataset.n, '*')</script>`;
  for (const [name, home] of [
    ['the same origin', site],
    ['another origin', other],
  ] as const) {
    await open(`${button('Go', 1)}<div style="position:relative;width:320px">
      <iframe src="${home.set('/inner', inner + listener)}" style="width:300px;height:60px"></iframe>
      <div id=cover hidden style="position:absolute;inset:0;background:#eee">tip</div></div>${button('Go', 4)}${REPORT}
      <script>onmessage = ({ data }) => { pressed.textContent += data + ' '; };</script>`);
    t.equal(await outcome('wait', '{button:4}Go'), HELD, name);
    await call('page', 'cover.hidden = false; 0');
    t.equal(await countOf('{button}Go', 4), HELD, `${name}: count`);
    for (const n of range(4)) t.equal(await means(`{button:${n}}Go`, n), HELD, `${name}: ${n}`);
    t.same(await isThere('{button:2}Go'), THERE, name);
    t.equal(await act('{button:4}Go'), 'held 4', `${name}: after the frame`);
    t.equal(await act('{button:2}Go', PRESS), 'covered', `${name}: in the frame`);
    t.same(await locators(), ['{button:1}Go', '{button:4}Go'], `${name}: look`);
    t.equal(await act('{button:4}Go'), 'held 4', `${name}: after the look`);
    await call('page', 'cover.remove(); 0');
    await act('{button:3}Go');
    t.equal(await judged('#pressed', 'toHaveText', '3', SOON), HELD, `${name}: open again`);
  }
});

t.end();
