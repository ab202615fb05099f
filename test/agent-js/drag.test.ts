import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { scriptTags } from '../support/drag-pages.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call } = await openAgent(t, lease);

const tags = scriptTags(site);
const ITEMS = ['Ada', 'Ben', 'Cyd', 'Dan', 'Eve', 'Fay'];
const list = (style = '') =>
  `<style>li { ${style} } ul { padding: 0; width: 300px } li { list-style: none; height: 30px; border: 1px solid; cursor: grab }</style>
   <ul id=list>${ITEMS.map((name) => `<li>${name}</li>`).join('')}</ul>`;

/** What takes another's place stands there, and everything between the two has moved by one. */
function moved(from: string, to: string): string[] {
  const others = ITEMS.filter((name) => name !== from);
  others.splice(ITEMS.indexOf(to), 0, from);
  return others;
}

const LISTS: { readonly [what: string]: string } = {
  'Sortable, by the browser’s drag and drop': `${tags('sortablejs/Sortable.js')}${list()}
    <script>Sortable.create(document.getElementById('list'), { animation: 150 })</script>`,
  'Sortable, by pointer': `${tags('sortablejs/Sortable.js')}${list()}
    <script>Sortable.create(document.getElementById('list'), { animation: 150, forceFallback: true })</script>`,
  'jQuery UI': `${tags('jquery/dist/jquery.js', 'jquery-ui/dist/jquery-ui.js')}${list()}
    <script>jQuery('#list').sortable()</script>`,
  'jQuery UI, a grid': `${tags('jquery/dist/jquery.js', 'jquery-ui/dist/jquery-ui.js')}${list('float: left; width: 90px')}
    <script>jQuery('#list').sortable()</script>`,
};

t.test('an item dragged to another of its list takes its place', async (t) => {
  for (const [what, html] of Object.entries(LISTS)) {
    for (const [from, to] of [
      ['Ada', 'Eve'],
      ['Eve', 'Ada'],
      ['Ben', 'Cyd'],
      ['Fay', 'Cyd'],
    ] as const) {
      await call('go', site.set('/list', html));
      await call('act', `{*}${from}`, 'drag', `{*}${to}`);
      const order = await call('page', '[...document.querySelectorAll("#list > li")].map((item) => item.textContent)');
      t.same(order, moved(from, to), `${what}: ${from} to ${to}`);
    }
  }
});

t.test('a drag ends where its target is drawn, also where its middle is empty', async (t) => {
  const node = (id: string, x: number) =>
    `<g id=${id} transform="translate(${x} 60)" style="cursor:crosshair"><circle r=14 fill=blue></circle><text y=40 text-anchor=middle>${id}</text></g>`;
  await call(
    'go',
    site.set(
      '/hollow',
      `<svg width=500 height=200>${node('Ada', 60)}${node('Bob', 440)}</svg><script>let from = null; document.title = 'none';
      for (const one of document.querySelectorAll('g')) {
        one.onpointerdown = (event) => { from = one.id; event.preventDefault(); };
        one.onpointerup = () => { document.title = from + ' to ' + one.id; };
      }</script>`,
    ),
  );
  await call('act', '#Ada', 'drag', '#Bob');
  t.equal(await call('page', 'document.title'), 'Ada to Bob');
  await call('act', '#Bob', 'drag', '#Ada');
  t.equal(await call('page', 'document.title'), 'Bob to Ada');
});

t.test('what the pointer moves is moved where a drag before it has left everything selected too', async (t) => {
  const html = `<div style="height: 60px">Above</div><div id=box role=button tabindex=0 aria-label=Box
    style="position: absolute; left: 300px; top: 300px; width: 80px; height: 40px; background: #ccc">Move me</div>
    <div style="height: 500px">Below <b>it</b></div><script>
    let held = null;
    box.onmousedown = ({ clientX, clientY }) => { held = [clientX - box.offsetLeft, clientY - box.offsetTop]; };
    document.onmousemove = ({ clientX, clientY }) => {
      if (held !== null) { box.style.left = clientX - held[0] + 'px'; box.style.top = clientY - held[1] + 'px'; }
    };
    document.onmouseup = () => { held = null; };</script>`;
  await call('go', site.set('/box', html));
  const place: [left: number, top: number] = [300, 300];
  for (const [dx, dy] of [
    [-200, -260],
    [150, 200],
    [-60, 90],
  ] as const) {
    place[0] += dx;
    place[1] += dy;
    await call('page', 'getSelection().selectAllChildren(document.body); 0');
    await call('act', '{button}Box', 'drag', { by: [dx, dy] });
    t.same(await call('page', '[box.offsetLeft, box.offsetTop]'), place, `${dx}, ${dy}`);
  }
});

t.test('a card gets to another list, over cards that make room for it slowly', async (t) => {
  const html = `${tags('sortablejs/Sortable.js')}<style>li { padding: 8px; border: 1px solid; width: 200px; list-style: none }</style>
    <ul id=a><li>A1<li>A2<li>A3<li>A4</ul><ul id=b><li>B1</ul>
    <script>for (const list of [a, b]) Sortable.create(list, { group: 'x', animation: 150 })</script>`;
  for (const [from, to, list] of [
    ['A2', 'B1', 'b'],
    ['B1', 'A1', 'a'],
  ] as const) {
    await call('go', site.set('/kanban', html));
    const answer = await call('act', `{li}${from}`, 'drag', `{li}${to}`);
    const names = await call('page', `[...${list}.children].map((one) => one.textContent).sort()`);
    t.match(names, list === 'b' ? ['A2', 'B1'] : ['A1', 'A2', 'A3', 'A4', 'B1'], `${from} to ${to}`);
    t.match(answer, { changed: true, drag: { outcome: 'moved' } }, `${from} to ${to}: the answer says so`);
  }
});

t.test('what the page lets follow only from beyond a threshold ends where it was asked to', async (t) => {
  const html = `<div id=b style="width: 100px; height: 40px; background: #cde; position: absolute; left: 20px; top: 20px">Node</div><script>
    let down = null, start = null; b.onmousedown = (event) => { down = [event.clientX, event.clientY]; };
    onmousemove = ({ clientX, clientY }) => {
      if (down === null || (start === null && Math.hypot(clientX - down[0], clientY - down[1]) < 10)) return;
      start ??= [clientX - b.offsetLeft, clientY - b.offsetTop];
      b.style.left = clientX - start[0] + 'px'; b.style.top = clientY - start[1] + 'px'; };
    onmouseup = () => { down = start = null; };</script>`;
  await call('go', site.set('/threshold', html));
  const answer = await call('act', '#b', 'drag', { by: [100, 50] });
  const [left = 0, top = 0] = (await call('page', '[b.offsetLeft, b.offsetTop]')) as number[];
  t.ok(Math.abs(left - 120) <= 2 && Math.abs(top - 70) <= 2, 'within 2 pixels', { found: [left, top] });
  t.match(answer, { changed: true, drag: { outcome: 'moved', by: undefined } });
});

t.end();
