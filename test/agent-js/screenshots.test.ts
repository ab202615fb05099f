import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { decodePng } from '../support/numbered-page.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, callFrom, failure, screenshotsDir } = await openAgent(t, lease);
const failureOfFlow = (...args: [string, object]) => callFrom({ flowRun: 1 }, ...args).catch((error: unknown) => error);

t.test('a screenshot of one element shows it alone, wherever the page is scrolled', async (t) => {
  const box = (color: string) => `<div class=b style="width:40px;height:20px;background:${color}">.</div>`;
  const page = `<style>.b { color: transparent; overflow: hidden }</style>${box('lime')}<div style="height:3000px"></div>
    <div style="overflow:auto;height:100px"><div style="height:400px"></div><section>${box('red')}</section></div><div style="height:3000px"></div>${box('blue')}`;
  await call('go', site.set('/boxes', page));
  for (const [locator, color] of [
    ['section .b', [255, 0, 0]],
    ['body > .b:last-child', [0, 0, 255]],
    ['body > .b:first-of-type', [0, 255, 0]],
  ] as const) {
    const shot = (await call('screenshot', { title: 'one', within: locator })) as { file: string };
    const { width, height, at } = decodePng(readFileSync(join(screenshotsDir, shot.file)));
    t.same([width, height], [40, 20], locator);
    const colors = new Set(
      Array.from({ length: width * height }, (_, n) => at(n % width, Math.floor(n / width)).join()),
    );
    t.same([...colors], [color.join()], locator);
  }
});

t.test('a screenshot of what is not there, or not alone, fails', async (t) => {
  await call('go', site.set('/two', '<button>Go</button><button>Go</button><p hidden>Away</p>'));
  t.match(await failure('screenshot', { within: '{button}Stay' }), { code: 'LOCATOR_NOT_FOUND' });
  t.match(await failure('screenshot', { within: '{button}Go' }), { code: 'LOCATOR_AMBIGUOUS' });
  t.match(await failure('screenshot', { within: 'p' }), { code: 'LOCATOR_NOT_FOUND' });
});

t.test('marks show each element of the last look in its place, and leave the page as it is', async (t) => {
  const box =
    '<style>body { margin: 0 }</style><button style="position:absolute;left:100px;top:100px;width:80px;height:40px">Save</button>';
  await call('go', site.set('/marks', `${box}<div style="height:3000px"></div><button>Below</button>`));
  t.match(await failureOfFlow('screenshot', { marks: true }), {
    code: 'ACTION_FAILED',
    message: /agent\.look\(\) first/,
  });
  await call('look', { full: true });
  const before = await call('page', 'document.documentElement.outerHTML');
  const shot = (await call('screenshot', { title: 'marked', marks: true })) as { file: string };
  const { at } = decodePng(readFileSync(join(screenshotsDir, shot.file)));
  t.same(at(100, 120), [192, 0, 0], 'its edge is drawn');
  t.same(at(179, 139), [192, 0, 0]);
  t.same(at(101, 88), [192, 0, 0], 'and its name above it');
  t.equal(await call('page', 'document.documentElement.outerHTML'), before);
  const part = (await call('screenshot', { within: '{button}Save', marks: true })) as { file: string };
  const cut = decodePng(readFileSync(join(screenshotsDir, part.file)));
  t.same([cut.width, cut.height, cut.at(0, 20)], [80, 40, [192, 0, 0]]);
  await call('page', 'document.body.innerHTML = document.body.innerHTML; null');
  t.match(
    await call('screenshot', { marks: true }).catch((error: unknown) => error),
    { code: 'ACTION_FAILED', message: /what the last look listed has left the page; call agent\.look\(\) first/ },
    'a page that was drawn anew is not shown without marks',
  );
});
