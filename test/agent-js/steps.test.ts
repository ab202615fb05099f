import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
site.set(
  '/',
  '<title>Shop</title><button onclick="this.textContent += 1">Save</button><button>Twice</button><button>Twice</button>',
);

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

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
  for (const file of readdirSync(screenshotsDir)) {
    t.ok(readFileSync(join(screenshotsDir, file)).subarray(0, 4).equals(PNG), file);
  }
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

/** What a picture's first pixel says of red: the number of clicks on the page below. */
function clicksOn(png: Buffer): number {
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  // After the filter's byte; the first pixel of the first row has nothing that it could be the difference to.
  return (inflateSync(Buffer.concat(parts))[1] ?? 0) / 10;
}

t.test(
  'Where it is asked for, each step waits for the picture of the one before, and all have their own',
  async (t) => {
    const { agent, call, told, screenshotsDir } = await openAgent(t, lease, { policy: 'on' });
    const click = "n += 10; document.documentElement.style.background = 'rgb(' + n + ', 0, 0)'";
    await call('go', site.set('/count', `<script>let n = 0</script><button onclick="${click}">More</button>`));
    for (let step = 2; step <= 8; step += 1) await call('act', '{button}More', 'click');
    await agent.settle();
    const steps = told('StepFinished');
    const shown = steps
      .slice(1)
      .map(({ screenshot }) => clicksOn(readFileSync(join(screenshotsDir, screenshot ?? ''))) + 1);
    t.same(shown, [2, 3, 4, 5, 6, 7, 8]);
    t.ok(steps.every((step) => step.screenshotStep === undefined));
  },
);

t.test('A step that cannot be pictured is told all the same', async (t) => {
  const { agent, call, told } = await openAgent(t, lease, { policy: 'on' });
  await call('go', site.set('/alert', '<title>Alert</title><button onclick="alert(1)">Alert</button>'));
  await call('act', '{button}Alert', 'click');
  await call('act', '{dialog}OK', 'click');
  await agent.settle();
  t.match(told('StepFinished'), [{ index: 1 }, { index: 2, screenshot: null }, { index: 3, screenshot: /^003-/ }]);
});

t.end();
