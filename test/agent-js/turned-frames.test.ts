import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
const { call, failure } = await openAgent(t, lease, { actMs: 1_500 });

const BUTTONS = ['One', 'Two', 'Three', 'Four', 'Five', 'Six']
  .map((name) => `<button onclick="top.postMessage('${name}', '*')">${name}</button>`)
  .join('');
const GRID = `<!doctype html><style>body { margin: 0; display: grid; grid-template-columns: 1fr 1fr 1fr; gap: 6px; height: 120px }
  button { font-size: 11px }</style>${BUTTONS}<input aria-label=Field style="width: 60px">`;
site.set('/grid', GRID);
site.set(
  '/nest',
  `<!doctype html><style>body { margin: 0 }</style><iframe src=/grid style="width: 210px; height: 150px;
  border: 0; transform: rotate(90deg)"></iframe>`,
);
/** Drawn by a process of its own. */
const apart = (path: string) => `${site.origin.replace('127.0.0.1', 'localhost')}${path}`;

async function open(style: string, src: string, around = ''): Promise<void> {
  await call(
    'go',
    site.set(
      '/turned',
      `<!doctype html><title>Turned</title><script>log = []; onmessage = ({ data }) => log.push(data)</script>
      <body style="margin: 120px 200px"><div style="${around}"><iframe style="width: 240px; height: 180px; ${style}" src="${src}"></iframe></div>`,
    ),
  );
}
const log = () => call('page', 'log.splice(0)');

const STYLES = {
  'turned by 30°': 'transform: rotate(30deg)',
  'on its side': 'rotate: 90deg',
  'upside down': 'transform: rotate(180deg)',
  mirrored: 'transform: scaleX(-1)',
  'mirrored and half as large': 'scale: -0.5 0.5',
  skewed: 'transform: skew(25deg, 10deg)',
  'scaled alone': 'transform: scale(1.3, 0.8)',
  'with a border and a padding': 'border: 9px solid; padding: 14px 3px 2px 25px; transform: rotate(-60deg)',
  'about another corner': 'transform-origin: 0 0; transform: rotate(20deg) translate(30px, -20px)',
  'in perspective': 'transform: perspective(500px) rotateY(50deg)',
} as const;

t.test('An element in a frame that is turned, mirrored, or skewed is pressed', async (t) => {
  for (const [what, style] of Object.entries(STYLES)) {
    for (const src of ['/grid', apart('/grid')]) {
      await open(style, src);
      for (const name of ['One', 'Three', 'Five']) await call('act', `{button}${name}`, 'click');
      t.same(await log(), ['One', 'Three', 'Five'], `${what}, ${src}`);
    }
  }
});

t.test('What turns the frame may be around it, and frames may stand in one another', async (t) => {
  for (const [what, style, around, src] of [
    ['a box', '', 'display: inline-block; transform: rotate(45deg) scale(1.2)', '/grid'],
    ['a box in perspective', 'transform: rotateX(40deg)', 'perspective: 400px; width: 300px', '/grid'],
    ['two frames', 'transform: rotate(20deg)', '', '/nest'],
    ['two frames of another origin', 'transform: scaleY(-1)', '', apart('/nest')],
  ] as const) {
    await open(style, src, around);
    for (const name of ['Two', 'Four', 'Six']) await call('act', `{button}${name}`, 'click');
    t.same(await log(), ['Two', 'Four', 'Six'], what);
  }
});

t.test('Points of an element, fields, and dragging are where the frame shows them', async (t) => {
  await open('transform: rotate(90deg)', '/grid');
  await call('act', '{input}Field', 'input', 'abc');
  t.equal(await call('value', '{input}Field'), 'abc');
  await call('act', '{button}Two', 'click', { x: 2, y: 3 });
  t.same(await log(), ['Two']);
  await call('act', '{button}Two', 'hover');
  t.equal(
    await call('page', `document.querySelector('iframe').contentDocument.querySelector('button:hover')?.textContent`),
    'Two',
  );
});

t.test('What nobody sees, or what lies under something else, is refused', async (t) => {
  await open('transform: rotateY(90deg)', '/grid');
  t.match(await failure('act', '{button}One', 'click'), { code: /ACTION_FAILED|LOCATOR_NOT_FOUND/ }, 'from its edge');
  await open('transform: rotate(30deg)', '/grid');
  await call(
    'page',
    `document.body.insertAdjacentHTML('beforeend', '<div style="position: fixed; inset: 0; background: #fffc">Veil</div>')`,
  );
  t.match(await failure('act', '{button}One', 'click'), { code: 'ACTION_FAILED', error: /covered/ });
  t.same(await log(), [], 'nothing was pressed');
});
