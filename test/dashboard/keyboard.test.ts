import t from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const shop = await startShop({ port: 0 });
t.teardown(() => shop.close());
const service = await startTestService(t, { maxSessions: 2, forward: [Number(new URL(shop.url).port)] });
const { page, shows, holds } = await openReader(t);
const ended = async (batch: string) => (await service.call('GET', `/api/batches/${batch}`)).body.endedAt !== null;
const flow = `({ base }) => {
  agent.go(base);
  agent.wait(1500);
  agent.expect('h1').toHaveText('No', { timeout: 1 });
};`;
const job = { prompt: 'x', maxIterations: 0, args: { base: shop.url } };
const passed = await service.job({
  ...job,
  name: 'Passes',
  flowFiles: ['examples/login.js'],
  labels: { suite: 'keys' },
});
const accepted = await service.call('POST', '/api/batches', {
  name: 'Nightly',
  labels: { branch: 'main', commit: '0123456789abcdef' },
  flows: { 'wrong.js': flow },
  jobs: [{ ...job, name: 'wrong', flowFiles: ['wrong.js'], video: 'on' }],
});
const run: string = accepted.body.id;
const inRun: string = accepted.body.jobs[0];
await eventually('the run ends', () => ended(run), 60_000);

t.test('The list, a session and a step with its picture can be reached with the keyboard', async (t) => {
  await page.goto(`${service.url}/#/sessions`);
  await shows('Passes');
  await page.keyboard.press('/');
  await page.keyboard.type('suite=keys');
  await holds('document.querySelectorAll("[role=row][aria-selected]").length === 1');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await shows('Step ');
  t.match(page.url(), passed.id);
  await page.getByRole('slider', { name: 'Steps' }).focus();
  await page.keyboard.press('Home');
  await shows('Step 1 of');
  await page.keyboard.press('ArrowRight');
  await shows('Step 2 of');
  t.match(page.url(), /step-2$/);
  await page.getByRole('tab', { name: 'Step' }).focus();
  for (const _ of ['Network', 'Console', 'Report']) await page.keyboard.press('ArrowRight');
  await holds('document.querySelector("iframe[title=Report]") !== null');
  const inReport = () => page.evaluate('document.activeElement?.title === "Report"');
  for (let presses = 0; presses < 10 && !(await inReport()); presses += 1) await page.keyboard.press('Tab');
  t.ok(await inReport(), 'Tab goes on into the report');
});

/** Presses Tab, or Shift+Tab, until something of this name has the focus. */
async function tabTo(name: string, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  const focused = () =>
    page.evaluate<string>(
      '(({ tagName, innerText, ariaLabel } = document.activeElement) => ariaLabel ?? (tagName === "VIDEO" ? "video" : innerText))()',
    );
  for (let presses = 0; presses < 100; presses += 1) {
    await page.keyboard.press(key);
    if ((await focused()) === name) return;
  }
  throw new Error(`${key} does not reach ${name}`);
}

t.test(
  'Keys alone lead from the first page to the cause of a failed run and its video, and run it again',
  async (t) => {
    await page.goto('about:blank');
    await page.goto(`${service.url}/#/`);
    await shows('1 failed');
    await tabTo('Nightly');
    await page.keyboard.press('Enter');
    await shows("> 4 |   agent.expect('h1').toHaveText('No'");
    await tabTo('wrong');
    await page.keyboard.press('Enter');
    await shows('Received');
    t.match(page.url(), inRun);
    await page.getByRole('tab', { name: 'Video' }).waitFor();
    await tabTo('Step');
    await page.keyboard.press('ArrowRight');
    await tabTo('video');
    // Before its length is known, no key moves it.
    await holds('(({ readyState, seeking }) => readyState > 0 && !seeking)(document.querySelector("video"))');
    await page.keyboard.press('Home');
    await page.keyboard.press('Space');
    await holds(
      '(({ played, currentTime }) => played.length > 0 && currentTime > 0.5)(document.querySelector("video"))',
    );
    await tabTo('Nightly', 'Shift+Tab');
    await page.keyboard.press('Enter');
    await tabTo('Re-run failed');
    await page.keyboard.press('Enter');
    await shows('0 new since the run before');
    t.notMatch(page.url(), run);
  },
);

t.test('The search leads to a run by a part of its name', async (t) => {
  await page.goto(`${service.url}/#/`);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('run nightly');
  await holds('/Nightly[\\s\\S]*failed, .* ago/.test(document.querySelector("[role=option]")?.innerText)');
  await page.keyboard.press('Enter');
  await shows("agent.expect('h1').toHaveText('No'");
  t.match(page.url(), '#/runs/');
});
