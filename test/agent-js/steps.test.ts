import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type AgentFixture, openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { decodePng, numberedPage, numberOn } from '../support/numbered-page.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
site.set(
  '/',
  '<title>Shop</title><button onclick="this.textContent += 1">Save</button><button>Twice</button><button>Twice</button>',
);

/** Passes at its first look. */
const SEEN = ['{button}More', 'toBeVisible', {}, {}] as const;

t.test('Each step of a job is told in order, with its picture', async (t) => {
  const { agent, call, failure, told, screenshotsDir } = await openAgent(t, lease, { policy: 'on' });
  await call('go', `${site.origin}/`);
  await call('act', '{button}Save', 'click');
  await call('look');
  await failure('act', '{button}Twice', 'click');
  await call('screenshot', 'All done');
  await agent.settle();
  const host = site.origin.slice('http://'.length).replace(/\W/g, '-');
  t.match(told('StepFinished'), [
    {
      index: 1,
      kind: 'script',
      js: `agent.go("${site.origin}/")`,
      result: { url: `${site.origin}/`, title: 'Shop', status: 200 },
      url: `${site.origin}/`,
      title: 'Shop',
      screenshot: `001-go-${host}.png`,
      line: 1,
    },
    {
      index: 2,
      js: 'agent.act("{button}Save", "click")',
      result: { changed: true },
      screenshot: '002-act-click-button-save.png',
    },
    {
      index: 3,
      error: { code: 'LOCATOR_AMBIGUOUS', details: { candidates: ['{button:1}Twice', '{button:2}Twice'] } },
      title: 'Shop',
      screenshot: '003-act-click-button-twice.png',
    },
    { index: 4, js: 'agent.screenshot("All done")', screenshot: '004-screenshot-all-done.png' },
  ]);
  t.ok(told('StepFinished').every((step) => step.durationMs > 0 && !('result' in step && 'error' in step)));
  t.match(told('ScreenshotTaken'), [
    { file: '004-screenshot-all-done.png', title: 'All done', width: 1280, height: 720 },
  ]);
  t.same(
    readdirSync(screenshotsDir).sort(),
    told('StepFinished').map((step) => step.screenshot),
  );
  const widths = readdirSync(screenshotsDir).map((file) => decodePng(readFileSync(join(screenshotsDir, file))).width);
  t.same(widths, [640, 640, 1280, 1280], 'a step that failed and what was asked for are as large as the page');
});

t.test('A live session has pictures of the steps that left the browser idle, and of those that failed', async (t) => {
  const { agent, call, failure, told, events, screenshotsDir } = await openAgent(t, lease, { policy: 'idle' });
  await call('go', `${site.origin}/`);
  await call('act', '{button:1}Twice', 'click');
  t.match(told('StepFinished'), [{ index: 1, screenshot: null }], 'the next step came first');
  while (told('StepFinished').length < 2) await call('wait', 20);
  t.match(told('StepFinished')[1], { index: 2, screenshot: '002-act-click-button-1-twice.png' });
  await failure('act', '{button}Twice', 'click');
  await call('go', `${site.origin}/`);
  await agent.dispose();
  await agent.dispose();
  t.match(told('StepFinished').slice(2), [
    { index: 3, screenshot: '003-act-click-button-twice.png' },
    { index: 4, screenshot: null },
  ]);
  t.ok(existsSync(join(screenshotsDir, '003-act-click-button-twice.png')));
  const count = events.length;
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(events.length, count, 'nothing is told after the end');
});

/** What the picture of each step shows of a numbered page. */
function numbersOf({ told, screenshotsDir }: AgentFixture): (number | null)[] {
  return told('StepFinished').map(({ screenshot }) =>
    screenshot === null ? null : numberOn(readFileSync(join(screenshotsDir, screenshot))),
  );
}

t.test(
  'A step that only reads has the picture before it, unless what is no step may have changed the page',
  async (t) => {
    const fixture = await openAgent(t, lease, { policy: 'on' });
    const { agent, call, told, screenshotsDir } = fixture;
    await call('go', site.set('/numbered', numberedPage(1, '/numbered')));
    await call('act', '{button}More', 'click');
    await call('expect', ...SEEN);
    await call('page', 'raise()');
    await call('expect', ...SEEN);
    await call('expect', ...SEEN);
    await call('page', 'setTimeout(raise, 20)');
    await call('wait', 100);
    await call('expect', ...SEEN);
    agent.changed();
    await call('expect', ...SEEN);
    await agent.settle();
    t.same(numbersOf(fixture), [1, 2, 2, 3, 3, 4, 4]);
    const files = told('StepFinished').map(({ screenshot }) => screenshot);
    t.same(
      files.map((file) => Number(file?.slice(0, 3))),
      [1, 2, 2, 4, 4, 6, 6],
    );
    t.same(readdirSync(screenshotsDir).sort(), [...new Set(files)], 'none is taken twice');
  },
);

t.test('Pictures of failures alone are as large as the page', async (t) => {
  const { agent, call, failure, told, screenshotsDir } = await openAgent(t, lease, { policy: 'failures' });
  await call('go', `${site.origin}/`);
  await call('act', '{button}Save', 'click');
  // So long an idle browser would be left alone.
  await call('wait', 400);
  await failure('act', '{button}Twice', 'click');
  await agent.settle();
  const files = told('StepFinished').map(({ screenshot }) => screenshot);
  t.same(files, [null, null, '003-act-click-button-twice.png']);
  t.match(decodePng(readFileSync(join(screenshotsDir, files[2] ?? ''))), { width: 1280, height: 720 });
});

t.test('Viewers see the page in its own size while steps are pictured', async (t) => {
  const { agent, call, told } = await openAgent(t, lease, { policy: 'on' });
  await call('go', site.set('/watched', numberedPage(1, '/watched')));
  await agent.settle();
  const widths = new Set<number>();
  agent.screencast.listen(({ width }) => {
    widths.add(width);
    agent.screencast.acknowledge();
  });
  agent.screencast.want('viewers', { page: agent.activePage ?? '', maxWidth: 640, maxHeight: 640 });
  for (let step = 0; step < 8; step += 1) await call('act', '{button}More', 'click');
  await agent.settle();
  t.ok(told('StepFinished').every(({ screenshot }) => screenshot !== null));
  t.same([...widths], [1280]);
});

t.test('A picture leaves a page the size that another connection has given it', async (t) => {
  const fixture = await openAgent(t, lease, { policy: 'on' });
  const { agent, browser, call, told } = fixture;
  await call('go', site.set('/sized', numberedPage(1, '/sized')));
  await agent.settle();
  const { targetInfos } = await browser.send('Target.getTargets', {});
  const targetId = targetInfos.find(({ url }) => url.endsWith('/sized'))?.targetId ?? '';
  const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
  const size = { width: 700, height: 500, deviceScaleFactor: 2, mobile: false };
  await browser.send('Emulation.setDeviceMetricsOverride', size, { session: sessionId });
  while ((await call('page', 'innerWidth')) !== 700) await call('wait', 20);
  await call('act', '{button}More', 'click');
  await agent.settle();
  t.equal(await call('page', 'innerWidth + "/" + devicePixelRatio'), '700/2');
  t.ok(told('StepFinished').every(({ screenshot }) => screenshot !== null));
  await browser.send('Target.detachFromTarget', { sessionId });
});

t.test('A page that is scrolled and zoomed like on a phone is pictured as it is seen, at half its size', async (t) => {
  const options = { device: 'iPhone 15' };
  const phone = await openAgent(t, lease, { policy: 'on', options });
  const shown =
    '<body style="margin:0;background:#00f"><p style="position:absolute;top:3000px;left:0;width:3000px;height:9000px;background:#f00">';
  await phone.call('go', site.set('/phone', `${shown}<script>onload = () => scrollTo(0, 4000)</script>`));
  await phone.call('page', 'new Promise(requestAnimationFrame)');
  await phone.call('expect', 'html', 'toBeVisible', {}, {});
  await phone.agent.settle();
  const { screenshot } = phone.told('StepFinished').at(-1) ?? { screenshot: null };
  const { width, height, at } = decodePng(readFileSync(join(phone.screenshotsDir, screenshot ?? '')));
  t.match({ width, height }, { width: 590, height: 989 });
  for (const [x, y] of [
    [2, 2],
    [width - 3, 2],
    [2, height - 3],
    [width - 3, height - 3],
  ] as const) {
    t.same(at(x, y).slice(0, 3), [255, 0, 0], `${x}, ${y}`);
  }
});

t.test('A step that cannot be pictured is told all the same', async (t) => {
  const { agent, call, told } = await openAgent(t, lease, { policy: 'on' });
  await call('go', site.set('/alert', '<title>Alert</title><button onclick="alert(1)">Alert</button>'));
  await call('act', '{button}Alert', 'click');
  await call('act', '{dialog}OK', 'click');
  await agent.settle();
  t.match(told('StepFinished'), [{ index: 1 }, { index: 2, screenshot: null }, { index: 3, screenshot: /^003-/ }]);
});

t.end();
