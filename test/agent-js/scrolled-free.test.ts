import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
const { call, failure } = await openAgent(t, lease, { actMs: 1_500 });

const rows = (count: number, style = 'display: block; height: 20px; width: 100%; padding: 0; border: 0') =>
  Array.from(
    { length: count },
    (_, index) => `<button style="${style}" onclick="document.title = this.textContent">Item ${index + 1}</button>`,
  ).join('');
const bar = (edge: string, height = 40, position = 'sticky') =>
  `<header style="position: ${position}; ${edge}; height: ${height}px; background: #eee; z-index: 1">Bar</header>`;
const list = (content: string, style = 'height: 60px') =>
  `<div id=list style="width: 240px; overflow: auto; ${style}">${content}</div>`;
const columns = (content: string) => `<div style="width: 2000px; white-space: nowrap">${content}</div>`;
const column = (edge: string, width: number) =>
  `<b style="position: sticky; ${edge}; display: inline-block; width: ${width}px; height: 24px; background: #eee; z-index: 1">Column</b>`;
const wide = rows(20, 'width: 100px; height: 20px; padding: 0; border: 0');

async function open(html: string): Promise<void> {
  await call(
    'go',
    site.set('/list', `<!doctype html><meta charset=utf-8><title>-</title><body style="margin: 0">${html}`),
  );
}

const FREE = {
  'a head': list(bar('top: 0') + rows(20)),
  'a head, at the list’s end': list(bar('top: 0') + rows(10)),
  'a foot': list(rows(20) + bar('bottom: 0')),
  'a head and a foot that leave less than a row': list(bar('top: 0', 10) + rows(20) + bar('bottom: 0', 40)),
  'a head and a foot of other heights': list(bar('top: 0', 65) + rows(20) + bar('bottom: 0', 15), 'height: 90px'),
  'a bar across the middle, and both ends': list(
    `${bar('top: 0', 30)}<div style="position: sticky; top: 42px; height: 20px; margin-bottom: -20px; background: #ddd; z-index: 2">Bar</div>${rows(20)}${bar('bottom: 0', 30)}`,
    'height: 100px',
  ),
  'a bar over the list, outside of it': `<div style="position: relative; width: 240px">${list(rows(20), 'height: 100px')}
    <div style="position: absolute; top: 0; left: 0; right: 0; height: 42px; background: #ccc">Over</div>
    <div style="position: absolute; bottom: 0; left: 0; right: 0; height: 28px; background: #ccc">Over</div></div>`,
  'rows that snap': list(
    bar('top: 0') +
      rows(20, 'display: block; height: 20px; width: 100%; padding: 0; border: 0; scroll-snap-align: start'),
    'height: 60px; scroll-snap-type: y mandatory',
  ),
  'a list that scrolls smoothly': list(
    bar('top: 0', 25) + rows(20) + bar('bottom: 0', 25),
    'height: 60px; scroll-behavior: smooth',
  ),
  'columns at both sides': list(columns(column('left: 0', 150) + wide + column('right: 0', 30)), 'height: 40px'),
  'bars of the page around a list': `<div style="height: 900px"></div>${list(rows(20), 'height: 500px')}<div style="height: 900px"></div>
    ${bar('top: 0; left: 0; right: 0', 160, 'fixed')}${bar('bottom: 0; left: 0; right: 0', 520, 'fixed')}`,
  'bars of the page': `<div style="height: 900px"></div>${rows(20)}<div style="height: 900px"></div>
    ${bar('top: 0; left: 0; right: 0', 600, 'fixed')}${bar('bottom: 0; left: 0; right: 0', 90, 'fixed')}`,
  'a list in a frame': `<iframe style="width: 300px; height: 200px" srcdoc='${list(
    bar('top: 0', 8) + rows(20).replaceAll('document.title', 'top.document.title') + bar('bottom: 0', 40),
  )}'></iframe>`,
} as const;

t.test('What a bar that stays lies over is scrolled out from under it', async (t) => {
  for (const [what, html] of Object.entries(FREE)) {
    for (const item of ['Item 10', 'Item 3', 'Item 14']) {
      if (what.includes('end') && item === 'Item 14') continue;
      await open(html);
      await call('act', `{button}${item}`, 'click');
      t.equal(await call('page', 'document.title'), item, `${what}: ${item}`);
    }
  }
});

t.test('A point of an element is scrolled out from under a bar too', async (t) => {
  await open(FREE['a head and a foot that leave less than a row']);
  await call('act', '{button}Item 10', 'click', { x: 30, y: 2 });
  t.equal(await call('page', 'document.title'), 'Item 10');
});

t.test(
  'Where nothing is free, the error names what covers it, and the page is not scrolled all the time',
  async (t) => {
    await open(
      `${list(bar('top: 0', 60) + rows(20))}<script>n = 0; list.addEventListener("scroll", () => n++)</script>`,
    );
    t.match(await failure('act', '{button}Item 10', 'click'), {
      code: 'ACTION_FAILED',
      error: /covered by \{header\}Bar/,
    });
    const scrolls = Number(await call('page', 'n'));
    t.ok(scrolls <= 4, `it was scrolled ${scrolls} times`);
    t.equal(await call('page', 'document.title'), '-');
  },
);

t.test('A page without a doctype, whose body is what scrolls, is no exception', async (t) => {
  const cover = '<p style="position: fixed; top: 0; height: 70vh; width: 100%; margin: 0; background: #eee">Over</p>';
  await call('go', site.set('/quirks', `${rows(60)}${cover}<div style="height: 900px"></div>`));
  await call('act', '{button}Item 40', 'click');
  t.equal(await call('page', 'document.title'), 'Item 40');
  const frame = `<iframe style="width: 300px; height: 150px" srcdoc="<button>In</button>"></iframe>`;
  await call(
    'go',
    site.set('/quirks', `${frame}<p style="position: absolute; inset: 0 60% 60% 0; background: #eee">Over</p>`),
  );
  t.match(await failure('act', '{button}In', 'click'), { code: 'ACTION_FAILED', error: /is covered by \{p\}Over/ });
});

t.test('What becomes free later is pressed, also where the page never rests', async (t) => {
  for (const later of [
    `setTimeout(() => document.querySelector('header').style.height = '20px', 600)`,
    `setTimeout(() => document.querySelector('header').remove(), 600)`,
    `setInterval(() => document.querySelector('i').textContent += '.', 20);
     setTimeout(() => document.querySelector('header').hidden = true, 600)`,
  ]) {
    await open(
      `${list(bar('top: 0', 60) + rows(20))}<i></i><style>[hidden] { display: none }</style><script>${later}</script>`,
    );
    await call('act', '{button}Item 10', 'click');
    t.equal(await call('page', 'document.title'), 'Item 10', later);
  }
});

t.test('What nothing covers is not scrolled', async (t) => {
  await open(`${list(bar('top: 0', 20) + rows(20), 'height: 100px')}<script>list.scrollTop = 60</script>`);
  const before = await call('page', 'list.scrollTop');
  await call('act', '{button}Item 5', 'click');
  t.equal(await call('page', 'list.scrollTop'), before);
});
