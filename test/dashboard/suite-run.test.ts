import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

t.test('The page of a suite’s run lists its tests, what failed first, and follows them to their end', async (t) => {
  const service = await startTestService(t);
  const run = { run: 'a-run-of-a-suite', name: 'shop', labels: { branch: 'main' } };
  const { id } = (await service.call('POST', '/api/batches/suite', run)).body;
  const attempt = (number: number, status: string, more: object = {}) => {
    const common = { expectedStatus: 'passed', startedAt: '2026-01-02T03:04:05.000Z', durationMs: 1500 };
    return { attempt: number, status, ...common, sessionId: null, failure: null, ...more };
  };
  const test = (title: string, ...attempts: readonly object[]) => {
    const about = {
      suite: 'tests/shop.spec.ts',
      project: null,
      repeat: 0,
      file: 'tests/shop.spec.ts',
      line: 7,
      column: 1,
    };
    return { id: title, titlePath: ['the cart', title], ...about, tags: [], reason: null, attempts };
  };
  const failure = {
    code: 'MATCH_FAILED',
    message: 'expect(locator).toHaveText(expected) failed',
    file: 'tests/shop.spec.ts',
    line: 9,
    column: 3,
    frame: "> 9 |   await expect(total).toHaveText('13');",
    expected: 'Total: 13',
    received: 'Total: 14',
  };
  const tests = [
    test('adds', attempt(1, 'passed')),
    test('sums up', attempt(1, 'failed', { failure })),
    test('is second time lucky', attempt(1, 'failed', { failure }), attempt(2, 'passed')),
    { ...test('sells out', attempt(1, 'skipped', { expectedStatus: 'skipped' })), reason: 'no stock' },
    test('pays', attempt(1, 'running')),
    test('ships'),
  ];
  t.equal((await service.call('POST', `/api/batches/${id}/tests`, { tests, whole: true })).status, 200);
  const { page, shows, problems } = await openReader(t);
  await page.goto(`${service.url}/#/runs`);
  await page.getByRole('link', { name: 'shop' }).click();
  await shows('1 running');
  const texts = (name: string) => page.getByRole('region', { name, exact: true }).getByRole('listitem').allInnerTexts();
  await page.getByRole('region', { name: 'Failed', exact: true }).waitFor();
  t.match(await texts('Failed'), [
    /the cart › sums up\s+tests\/shop\.spec\.ts:7\s+Failed in 1\.5 s at tests\/shop\.spec\.ts:9: MATCH_FAILED\s[\s\S]*MATCH_FAILED[\s\S]*Total: 13[\s\S]*Total: 14/,
  ]);
  t.match(await texts('Flaky'), [/the cart › is second time lucky[\s\S]*Flaky: passed in 3\.0 s \(attempt 2 of 2\)/]);
  t.match(await texts('Skipped'), [/the cart › sells out[\s\S]*no stock/]);
  t.match(await texts('Passed'), [/the cart › adds[\s\S]*Passed in 1\.5 s/]);
  const end = { tests: [test('pays', attempt(1, 'passed'))], end: true };
  t.equal((await service.call('POST', `/api/batches/${id}/tests`, end)).status, 200);
  await shows('1 not run');
  await page.getByRole('region', { name: 'Not run' }).waitFor();
  t.match(await texts('Not run'), [/the cart › ships[\s\S]*Not run/]);
  t.match(await texts('Passed'), [/the cart › adds/, /the cart › pays/]);
  t.equal(await page.getByRole('button', { name: /Re-run|Stop/ }).count(), 0);
  t.same(problems, []);
});
