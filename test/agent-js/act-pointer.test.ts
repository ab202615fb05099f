import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, failure } = await openAgent(t, lease);

const LOG = `<script>
  window.log = [];
  for (const type of ['click', 'dblclick', 'contextmenu', 'mousemove', 'pointerdown', 'pointerup', 'wheel'])
    addEventListener(type, (event) => event.target.id && log.push([type, event.target.id, event.clientX, event.clientY, event.deltaX, event.deltaY, event.detail]), true);
</script>`;
const open = (html: string) =>
  call('go', site.set('/pointer', `<!doctype html>${LOG}<style>body { margin: 0 }</style>${html}`));
const of = async (...types: readonly string[]): Promise<unknown[][]> =>
  ((await call('page', 'log.splice(0)')) as unknown[][]).filter(([type]) => types.includes(String(type)));

t.test('a point given with an action is where the pointer goes, from the corner of the element', async (t) => {
  await open(`<div style="height:2000px"></div><canvas id=c width=400 height=300 style="margin-left:20px"></canvas>`);
  for (const [action, type] of [
    ['click', 'click'],
    ['dblclick', 'dblclick'],
    ['tripleclick', 'click'],
    ['rightclick', 'contextmenu'],
    ['hover', 'mousemove'],
  ] as const) {
    for (const [x, y] of [
      [0, 0],
      [10, 290],
      [399, 5],
    ] as const) {
      await call('act', '#c', action, { x, y });
      const corner = (await call('page', '[c.getBoundingClientRect().x, c.getBoundingClientRect().y]')) as number[];
      const last = (await of(type)).at(-1);
      t.same(last?.slice(1, 4), ['c', (corner[0] ?? 0) + x, (corner[1] ?? 0) + y], `${action} at ${x}, ${y}`);
      if (action === 'tripleclick') t.equal(last?.[6], 3);
    }
  }
  // The options come last also where the value is left out by null.
  await call('act', '#c', 'click', null, { x: 7, y: 8 });
  t.equal((await of('click')).length, 1);
});

t.test('a point inside a frame and inside a shadow root counts from the corner there', async (t) => {
  await open(`<iframe style="margin:30px;border:5px solid" width=300 height=200 srcdoc="<style>body{margin:0}</style><canvas id=c width=200 height=150></canvas><script>c.onclick = (event) => { c.dataset.at = event.offsetX + ' ' + event.offsetY }</script>"></iframe>
    <x-map></x-map><script>customElements.define('x-map', class extends HTMLElement { constructor() { super(); const root = this.attachShadow({ mode: 'closed' });
      root.innerHTML = '<canvas width=100 height=100 aria-label=Map role=img></canvas>'; root.firstChild.onclick = (event) => { this.dataset.at = event.offsetX + ' ' + event.offsetY; }; } })</script>`);
  await call('wait', 'canvas');
  await call('act', '#c', 'click', { x: 33, y: 44 });
  t.equal(
    await call('page', 'document.querySelector("iframe").contentDocument.querySelector("canvas").dataset.at'),
    '33 44',
  );
  await call('act', '{img}Map', 'click', { x: 12, y: 90 });
  t.equal(await call('page', 'document.querySelector("x-map").dataset.at'), '12 90');
});

t.test('a point outside the element, or covered by another, is refused and nothing is pressed', async (t) => {
  await open(
    `<canvas id=c width=100 height=100></canvas><button id=b style="position:absolute;left:40px;top:40px">Over</button>`,
  );
  t.match(await failure('act', '#c', 'click', { x: 100, y: 20 }), {
    code: 'ACTION_FAILED',
    error: /100, 20.*100 x 100/,
  });
  t.match(await failure('act', '#c', 'click', { x: -1, y: 0 }, {}), { code: 'SCRIPT_ERROR' });
  t.match(await failure('act', '#c', 'click', { x: 50, y: 50, timeout: 200 }), {
    code: 'ACTION_FAILED',
    error: /covered by \{button\}Over/,
  });
  t.same(await of('click', 'pointerdown'), []);
});

t.test('a drag goes by pixels, along a path, and to a point of its target', async (t) => {
  await open(`<canvas id=c width=300 height=200></canvas><div id=box draggable=false style="position:absolute;left:50px;top:300px;width:40px;height:40px;background:red"></div>
    <div id=target style="position:absolute;left:400px;top:300px;width:100px;height:100px;background:lime"></div>
    <script>window.moves = []; addEventListener('pointermove', (event) => { if (event.buttons) moves.push([event.clientX, event.clientY]); }, true);
      box.onpointerdown = (event) => { const [x, y] = [event.clientX - box.offsetLeft, event.clientY - box.offsetTop];
        const move = (event) => { box.style.left = event.clientX - x + 'px'; box.style.top = event.clientY - y + 'px'; };
        addEventListener('pointermove', move); addEventListener('pointerup', () => removeEventListener('pointermove', move), { once: true }); };</script>`);
  t.match(
    await call('act', '#c', 'drag', {
      path: [
        [10, 20],
        [110, 30],
        [200, 150],
      ],
    }),
    { changed: false },
  );
  t.same(
    (await of('pointerdown', 'pointerup')).map((entry) => entry.slice(0, 4)),
    [
      ['pointerdown', 'c', 10, 20],
      ['pointerup', 'c', 200, 150],
    ],
  );
  const moves = (await call('page', 'moves.splice(0)')) as number[][];
  t.ok(
    moves.some(([x, y]) => x === 110 && y === 30),
    'it passes each point',
  );
  await call('act', '#box', 'drag', { by: [120, -60] });
  t.same(await call('page', '[box.offsetLeft, box.offsetTop]'), [170, 240]);
  await call('act', '#box', 'drag', { to: '#target', x: 10, y: 90 });
  t.same(await call('page', '[box.offsetLeft, box.offsetTop]'), [390, 370], 'its middle is at the point');
  t.match(await failure('act', '#box', 'drag', { to: '#target', x: 200, y: 0 }), { code: 'ACTION_FAILED' });
  t.match(await failure('act', '#box', 'drag', { to: '#absent', x: 1, y: 1 }, { timeout: 100 }), {
    code: 'LOCATOR_NOT_FOUND',
  });
});

t.test('wheel turns the wheel over the element, and scrolls what is under it', async (t) => {
  await open(`<div id=map style="width:300px;height:200px"></div><div id=list style="height:100px;width:200px;overflow:auto"><p style="height:1000px">Long</p></div>
    <script>map.addEventListener('wheel', (event) => { event.preventDefault(); map.dataset.zoom = Number(map.dataset.zoom || 0) + event.deltaY; }, { passive: false })</script>`);
  t.match(await call('act', '#map', 'wheel', [0, -120]), { changed: true });
  t.equal(await call('page', 'map.dataset.zoom'), '-120');
  t.match(await call('act', '#list', 'wheel', [0, 150]), { changed: true });
  t.equal(await call('page', 'list.scrollTop'), 150);
  t.match(await call('act', '#list', 'wheel', [0, -1000]), { changed: true });
  t.equal(await call('page', 'list.scrollTop'), 0);
});

t.test('a row that is covered in the middle of its list is scrolled to where it is free', async (t) => {
  const row = (n: number) =>
    `<div><span style="cursor:pointer" onclick="document.title = ${n}">+</span> row ${n}</div>`;
  const rows = Array.from({ length: 20 }, (_, n) => row(n + 1)).join('');
  const list = (head: string) => `<div style="overflow:auto;height:60px;width:240px">${head}${rows}</div>`;
  const head = '<header style="position:sticky;top:0;height:40px;background:#eee;z-index:1">Results</header>';
  const foot = '<footer style="position:sticky;bottom:0;height:40px;background:#eee;z-index:1">Totals</footer>';
  const tip = '<div style="position:absolute;left:0;top:26px;width:60px;height:18px;background:#eee">tip</div>';
  for (const page of [list(head), list('').replace(/<\/div>$/, `${foot}</div>`), `${list('')}${tip}`]) {
    await open(page);
    for (const n of [10, 11, 20]) {
      await call('act', `{span:${n}}+`, 'click');
      t.equal(await call('page', 'document.title'), String(n), page.slice(-80));
    }
  }
});

t.test('selectText selects what an element holds', async (t) => {
  await open(`<p id=p>One <b>two</b> three</p><input aria-label=Name value="Ada Lovelace"><div contenteditable aria-label=Note>Some note</div>
    <x-note></x-note><script>customElements.define('x-note', class extends HTMLElement { constructor() { super(); this.attachShadow({ mode: 'open' }).innerHTML = '<p class=in>In shadow</p>'; } })</script>`);
  t.match(await call('act', '#p', 'selectText'), { changed: true });
  t.equal(await call('page', 'String(getSelection())'), 'One two three');
  await call('act', '{input}Name', 'selectText');
  await call('act', '{input}Name', 'press', 'Delete');
  t.equal(await call('value', '{input}Name'), '');
  await call('act', '{div}Note', 'selectText');
  t.equal(await call('page', 'String(getSelection())'), 'Some note');
});

t.test('a line of a drawing is clicked where it is drawn', async (t) => {
  await open(`<svg width=300 height=300 role=img aria-label=Chart><rect width=300 height=300 fill=white id=back></rect>
    <path id=corner d="M20 280 L20 20 L280 20" fill=none stroke=red stroke-width=6 onclick="this.dataset.hit = 1"></path>
    <g id=group onclick="this.dataset.hit = 1"><circle cx=80 cy=120 r=10></circle><circle cx=260 cy=260 r=10></circle></g></svg>`);
  await call('act', '#corner', 'click');
  t.equal(await call('page', 'corner.dataset.hit'), '1');
  await call('act', '#group', 'click');
  t.equal(await call('page', 'group.dataset.hit'), '1');
});

t.test('each act takes its own time', async (t) => {
  await open('<button id=off disabled>Off</button><button id=late disabled>Late</button>');
  // As long as a script may last: without their own time, both would outlast the one beside them.
  const patient = call('act', '#late', 'click', { timeout: 60_000 }).then(() => 'patient');
  const hasty = async () => {
    t.match(await failure('act', '#off', 'click', { timeout: 50 }), { code: 'ACTION_FAILED', error: /disabled/ });
    t.match(await failure('act', '#absent', 'click', { timeout: 50 }), { code: 'LOCATOR_NOT_FOUND' });
    return 'hasty';
  };
  t.equal(await Promise.race([patient, hasty()]), 'hasty');
  await call('page', 'late.disabled = false; null');
  t.equal(await patient, 'patient');
});
