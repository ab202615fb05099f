import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import t from 'tap';
import { type ErrorBody, encodeError } from '#troupe/protocol/errors.js';
import { openFolder } from '../containers/driver-fixture.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { sampled } from '../support/sampled.js';
import { SEED } from '../support/seed.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const flowsDir = openFolder(t);
const writer = await openAgent(t, lease, { flowsDir, updating: true, policy: 'on' });
const reader = await openAgent(t, lease, { flowsDir, updating: false, actMs: 2_000 });
const inFlow = { flowRun: 1, flow: 'shop/checkout' };
mkdirSync(join(flowsDir, 'shop'));

const expectIn = ({ callFrom }: typeof reader, ...args: readonly unknown[]) =>
  callFrom(inFlow, 'expectScreenshot', ...args) as Promise<{ baseline: string; status: string }>;

/** What a check of the page fails with. */
async function failureOf(...args: readonly unknown[]): Promise<ErrorBody> {
  try {
    await expectIn(reader, ...args);
  } catch (error) {
    return encodeError(error);
  }
  throw new Error(`${String(args[0])} did not fail`);
}

async function show(path: string, page: string): Promise<void> {
  const url = site.set(path, page);
  // Both agents use the same tab.
  await writer.call('go', url);
}

/** A page with what a picture can make different each time: a cursor, animations, fonts, a picture that comes late. */
const RESTLESS = `<style>
  @keyframes turn { from { transform: rotate(0) } to { transform: rotate(360deg) } }
  @keyframes come { from { opacity: 0 } to { opacity: 1 } }
  .wheel { width: 40px; height: 40px; background: linear-gradient(90deg, red, blue); animation: turn 700ms linear infinite }
  .card { animation: come 600ms ease-out; border-radius: 7px; box-shadow: 0 3px 9px #0006; padding: 9px }
  button { transition: background 500ms }
</style>
<h1>Ünïcödé heading</h1><div class=card>A card <b>with</b> <i>text</i></div><div class=wheel></div>
<input autofocus value="typed"><img src="/late.svg" width=60 height=40>
<svg width=50 height=50><circle r=20 cx=25 cy=25 fill=green><animate attributeName=r from=5 to=20 dur=1s repeatCount=indefinite /></circle></svg>
<script>setTimeout(() => document.body.append(Object.assign(document.createElement('p'), {textContent: 'Came late'})), 150)</script>`;

site.set('/late.svg', (_, response) => {
  setTimeout(() => {
    response.writeHead(200, { 'content-type': 'image/svg+xml' });
    response.end('<svg xmlns="http://www.w3.org/2000/svg"><rect width="100%" height="100%" fill="teal"/></svg>');
  }, 100);
});

t.test('a picture is stored once, beside its flow, and in the artifacts', async (t) => {
  await show('/plain', '<h1>Plain</h1>');
  t.same(await expectIn(writer, 'plain'), {
    baseline: 'shop/checkout.baselines/plain.test-system.png',
    status: 'written',
  });
  t.equal((await expectIn(writer, 'plain')).status, 'matched', 'it is not written again');
  t.ok(existsSync(join(flowsDir, 'shop/checkout.baselines/plain.test-system.png')));
  t.same(readdirSync(join(flowsDir, 'shop/checkout.baselines')), ['plain.test-system.png'], 'nothing else is left');
});

t.test('a page that moves, blinks and loads looks the same each time', async (t) => {
  await show('/restless', RESTLESS);
  await expectIn(writer, 'restless');
  const runs = Array.from({ length: 10 }, (_, run) => run);
  for (const run of sampled(runs, { name: 'restless', count: 2 })) {
    await show('/restless', RESTLESS);
    t.equal((await expectIn(writer, 'restless')).status, 'matched', `run ${run}`);
  }
  await show('/restless', RESTLESS);
  t.equal((await expectIn(reader, 'restless')).status, 'matched');
});

t.test('what was held still for the picture moves again, and nothing of it stays in the page', async (t) => {
  await show('/restless', RESTLESS);
  await expectIn(writer, 'restless');
  const states = 'document.getAnimations().map(({playState}) => playState).join()';
  t.equal(await writer.call('page', states), 'finished,running'.replace('finished,', ''), 'the endless one runs');
  t.equal(await writer.call('page', 'document.adoptedStyleSheets.length'), 0);
  t.equal(await writer.call('page', 'getComputedStyle(document.querySelector("input")).caretColor'), 'rgb(0, 0, 0)');
});

t.test('changes of one to ten pixels are found', async (t) => {
  const base = '<style>body{margin:0;background:#fff}i{position:absolute;background:#1b1f27}</style><h1>Title</h1>';
  await show('/planted', base);
  await expectIn(writer, 'planted');
  let state = SEED;
  const random = (below: number) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state % below;
  };
  const counts = Array.from({ length: 10 }, (_, n) => n + 1);
  for (const pixels of sampled(counts, { name: 'planted', count: 4 })) {
    const [left, top] = [random(1200), 100 + random(500)];
    const dots = Array.from(
      { length: pixels },
      (_, n) => `<i style="left:${left + (n % 4) * 2}px;top:${top + Math.floor(n / 4)}px;width:1px;height:1px"></i>`,
    );
    await show('/planted', base + dots.join(''));
    const failure = await failureOf('planted', { timeout: 0 });
    t.match(failure, { code: 'MATCH_FAILED', details: { pixels } }, `${pixels} at ${left}, ${top} of seed ${SEED}`);
  }
  for (const [name, page] of [
    ['moved by one pixel', base.replace('<h1>', '<h1 style="position:relative;left:1px">')],
    ['another color', base.replace('#fff', '#f7f7f7')],
    ['another letter', base.replace('Title', 'Titie')],
  ] as const) {
    await show('/planted', page);
    t.match(await failureOf('planted', { timeout: 0 }), { code: 'MATCH_FAILED' }, name);
  }
});

t.test('a difference comes with three pictures, and says what to do', async (t) => {
  await show('/three', '<body style="margin:0;background:white"><p>One</p>');
  await expectIn(writer, 'three');
  await show('/three', '<body style="margin:0;background:lime"><p>One</p>');
  const failure = await failureOf('three', { timeout: 100 });
  t.match(failure.error, /does not look like shop\/checkout\.baselines\/three\.test-system\.png.*--update-baselines/s);
  const pictures = failure.details?.pictures as { [name: string]: string };
  const at = (name: string) => [
    ...PNG.sync.read(readFileSync(join(reader.screenshotsDir, pictures[name] ?? ''))).data.subarray(0, 3),
  ];
  t.same(at('expected'), [255, 255, 255]);
  t.same(at('received'), [0, 255, 0]);
  t.same(at('difference'), [255, 0, 0]);
});

t.test('a page has the whole time to look as expected', async (t) => {
  await show('/slow', '<body style="background:lime">');
  await expectIn(writer, 'slow');
  await show(
    '/slow',
    '<body style="background:red"><script>setTimeout(() => { document.body.style.background = "lime" }, 700)</script>',
  );
  t.equal((await expectIn(reader, 'slow', { timeout: 60_000 })).status, 'matched');
});

t.test('without a baseline the check fails with the picture', async (t) => {
  await show('/first', '<h1>First</h1>');
  const failure = await failureOf('first');
  t.match(failure, { code: 'MATCH_FAILED', error: /There is no baseline .*--update-baselines/ });
  const pictures = failure.details?.pictures as { [name: string]: string };
  t.same(Object.keys(pictures), ['received']);
  t.ok(existsSync(join(reader.screenshotsDir, pictures.received ?? '')));
});

t.test('what is masked may differ, and what is around it may not', async (t) => {
  const page = (time: string, title: string) =>
    `<body style="margin:0"><h1>${title}</h1><p class=time style="position:absolute;top:100px;left:20px;width:200px;height:30px">${time}</p><button>Save ${time}</button>`;
  await show('/masked', page('12:00', 'Clock'));
  const mask = ['.time', '{^button}Save'];
  await expectIn(writer, 'masked', { mask });
  await show('/masked', page('13:37', 'Clock'));
  t.equal((await expectIn(reader, 'masked', { mask })).status, 'matched');
  t.match(await failureOf('masked', { mask: '.time', timeout: 0 }), { code: 'MATCH_FAILED' });
  await show('/masked', page('13:37', 'Cloak'));
  t.match(await failureOf('masked', { mask, timeout: 0 }), { code: 'MATCH_FAILED' });
});

t.test('one element is compared alone, and a difference in size is named', async (t) => {
  const page = (width: number, other: string) =>
    `<p>${other}</p><section style="width:${width}px;height:50px;background:teal"></section>`;
  await show('/within', page(80, 'before'));
  await expectIn(writer, 'within', { within: 'section' });
  await show('/within', page(80, 'after'));
  t.equal((await expectIn(reader, 'within', { within: 'section' })).status, 'matched');
  await show('/within', page(90, 'after'));
  t.match(await failureOf('within', { within: 'section', timeout: 0 }), {
    error: /90 x 50 pixels, and its baseline 80 x 50/,
  });
});

t.test('threshold says how much a color may differ', async (t) => {
  await show('/threshold', '<body style="background:rgb(100,100,100)">');
  await expectIn(writer, 'threshold');
  await show('/threshold', '<body style="background:rgb(120,120,120)">');
  t.match(await failureOf('threshold', { timeout: 0 }), { code: 'MATCH_FAILED' });
  t.equal((await expectIn(reader, 'threshold', { threshold: 0.2 })).status, 'matched');
});

t.test('what is written wrongly is refused before the page is asked', async (t) => {
  for (const [args, why] of [
    [[], /takes a name/],
    [['../x'], /takes a name/],
    [['a/b'], /takes a name/],
    [['.hidden'], /takes a name/],
    [['con.'], /takes a name/],
    [['x'.repeat(81)], /takes a name/],
    [['x', { treshold: 1 }], /no option "treshold"/],
    [['x', { threshold: 2 }], /from 0 to 1/],
    [['x', { threshold: '0' }], /from 0 to 1/],
    [['x', { mask: [1] }], /mask takes a locator/],
    [['x', { mask: Array.from({ length: 51 }, () => 'p') }], /at most 50/],
    [['x', { timeout: -1 }], /milliseconds/],
  ] as const) {
    t.match(await failureOf(...args), { code: 'SCRIPT_ERROR', error: why }, JSON.stringify(args).slice(0, 60));
  }
  t.match(await reader.failure('expectScreenshot', 'x'), { code: 'SCRIPT_ERROR', error: /call it in a flow/ });
});

t.test('a damaged baseline is no difference, and says so', async (t) => {
  await show('/damaged', '<h1>Damaged</h1>');
  const { baseline } = await expectIn(writer, 'damaged');
  const file = join(flowsDir, baseline);
  writeFileSync(file, readFileSync(file).subarray(0, 200));
  t.match(await failureOf('damaged', { timeout: 0 }), { code: 'ACTION_FAILED', error: /cannot be compared.*damaged/s });
});
