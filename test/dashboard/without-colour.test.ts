import t, { type Test } from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const MARK = { width: 12, height: 20 };
const AREA = { width: 24, height: 12 };

const service = await startTestService(t);
const { page, shows, holds } = await openReader(t);
await page.emulateMedia({ reducedMotion: 'reduce' });
const run = await runWithEveryState();

/** Machines join it and send how their flows ended, so that no model has to repair a flow. */
async function runWithEveryState(): Promise<string> {
  const ended = { startedAt: null, durationMs: 900, sessionId: null, failure: null, mayPassAgain: false };
  const passed = { ...ended, state: 'completed' };
  const failed = { ...ended, state: 'failed', failure: { code: 'MATCH_FAILED', message: 'sold out' } };
  const flows: readonly (readonly [string, readonly object[]])[] = [
    ['passed', [passed]],
    ['failed', [failed]],
    ['repaired', [{ ...passed, outcome: 'repaired' }]],
    ['skipped', [{ ...passed, outcome: 'skipped' }]],
    ['not run', [{ ...ended, state: 'stopped' }]],
    ['flaky', [{ ...failed, mayPassAgain: true }, passed]],
    ['running', []],
    ['queued', []],
  ];
  const jobs = flows.map(([name]) => ({ name, flow: 'shop', ...(name === 'flaky' ? { retries: 1 } : {}) }));
  const { id } = (await service.call('POST', '/api/batches/join', { build: '1', hash: 'h', jobs })).body;
  for (const result of flows.flatMap(([, results]) => results)) {
    const { token } = (await service.call('POST', `/api/batches/${id}/claim`, { machine: 'ci-1' })).body;
    await service.call('POST', `/api/batches/${id}/claims/${token}/result`, result);
  }
  await service.call('POST', `/api/batches/${id}/claim`, { machine: 'ci-2' });
  return id;
}

/** Opens a page with every tone in one colour, so that only shapes and patterns are left. */
async function open(path: string, text: string): Promise<void> {
  await page.goto(`${service.url}/${path}`);
  await shows(text);
  const tones = ['good', 'bad', 'warn', 'accent', 'line', 'line-strong', 'quiet', 'good-mark', 'bad-mark', 'warn-mark'];
  for (const tone of tones) await page.evaluate(`document.documentElement.style.setProperty('--${tone}', '#000')`);
}

/** What an element looks like at one and the same place, in one and the same size. */
async function pictureOf(selector: string, index: number, size: typeof MARK): Promise<string> {
  const pin = { position: 'fixed', left: '8px', top: '8px', ...pixels(size), minWidth: '0', zIndex: '9' };
  await page.evaluate(`{
    const element = document.querySelectorAll(${JSON.stringify(selector)})[${index}];
    element.dataset.was = element.style.cssText;
    Object.assign(element.style, ${JSON.stringify(pin)});
  }`);
  const png = await page.screenshot({ clip: { x: 8, y: 8, ...size } });
  await page.evaluate(`{
    const element = document.querySelectorAll(${JSON.stringify(selector)})[${index}];
    element.style.cssText = element.dataset.was;
  }`);
  return png.toString('base64');
}

function pixels({ width, height }: typeof MARK): object {
  return { width: `${width}px`, height: `${height}px` };
}

/** The pictures of all elements that a selector finds, by their state. */
async function picturesOf(selector: string, size: typeof MARK): Promise<ReadonlyMap<string, string>> {
  const states: readonly string[] = await page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map(({ className }) =>
      className.split(' ').filter((name) => !name.startsWith('svelte-') && name !== 'fill').join(' '))`,
  );
  const found = new Map<string, string>();
  for (const [index, state] of states.entries()) found.set(state, await pictureOf(selector, index, size));
  return found;
}

/** No two states look alike. */
function differ(t: Test, pictures: ReadonlyMap<string, string>, states: readonly string[]): void {
  t.same([...pictures.keys()].sort(), [...states].sort());
  for (const [state, picture] of pictures) {
    const alike = [...pictures].filter(([other, its]) => other !== state && its === picture).map(([other]) => other);
    t.same(alike, [], `nothing looks like ${state}`);
  }
}

const STATES = ['failed', 'flaky', 'not-run', 'passed', 'queued', 'repaired', 'running', 'skipped'];

t.test(
  'Without colours, the states of flows have different marks, and the parts of a bar different patterns',
  async (t) => {
    await open(`#/runs/${run}`, 'run by the machines that joined build 1');
    differ(t, await picturesOf('section[aria-label="Flows"] [data-mark]', MARK), STATES);
    // A flow without a result counts as stopped.
    const parts = STATES.map((state) => (state === 'not-run' ? 'stopped' : state));
    differ(t, await picturesOf('[role="img"] > span', AREA), parts);
  },
);

t.test('Without colours, the series of a chart have different patterns', async (t) => {
  await open('#/stats/shop', 'Pass rate');
  const fills: readonly string[] = await page.evaluate(
    `[...document.querySelectorAll('svg rect[fill]')].map((bar) => getComputedStyle(bar).fill)`,
  );
  t.equal(new Set(fills).size, 2, fills.join(' '));
  differ(t, await picturesOf('figure:nth-of-type(1) i', AREA), ['bars bad', 'bars good', 'bars warn']);
  differ(t, await picturesOf('figure:nth-of-type(2) i', AREA), ['dashes accent', 'dashes warn', 'line good']);
});

t.test('Without colours, a failed step is taller than others, and an error on the console has a mark', async (t) => {
  const { id } = await service.live({ name: 'Looks' });
  await service.run(id, `agent.go('about:blank'); console.log('fine'); console.error('wrong')`);
  await service.run(id, `agent.act('{button}None', 'click', { timeout: 1 })`);
  await service.call('DELETE', `/api/sessions/${id}`);
  await open(`#/sessions/${id}`, 'Stopped');
  await holds(`document.querySelector('.bars .failed') !== null`);
  const heights: readonly number[] = await page.evaluate(
    `['.failed', '.script'].map((kind) => document.querySelector('.bars ' + kind).getBoundingClientRect().height)`,
  );
  t.ok((heights[0] ?? 0) > (heights[1] ?? 0), heights.join(' and '));
  await page.getByRole('tab', { name: 'Console' }).click();
  await shows('console: wrong');
  const marks = await page.evaluate(
    `[...document.querySelectorAll('.shown li code')].map((line) => getComputedStyle(line, '::before').content)`,
  );
  t.match(marks, ['none', /✗/]);
});
