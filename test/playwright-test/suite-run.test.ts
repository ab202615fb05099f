import t, { type Test } from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';
import { runSuite } from './run-suite.js';
import { suiteFolder } from './suite-folder.js';

guardLeaks(t);

const REPORTERS = { REPORTERS: 'config' };
const service = await startTestService(t, { maxSessions: 2 });

interface Entry {
  readonly name: string;
  readonly state: string;
  readonly flaky: boolean;
  readonly titlePath: readonly string[];
  readonly file: string;
  readonly line: number;
  readonly attempts: readonly {
    readonly attempt: number;
    readonly status: string;
    readonly sessionId: string | null;
    readonly durationMs: number;
    readonly startedAt: string;
    readonly failure: { readonly message: string; readonly line?: number; readonly frame?: string } | null;
  }[];
}

/** Runs a suite and returns its run as the service has it. @param config members of the configuration, as source */
async function runOf(
  t: Test,
  source: string,
  {
    config = '',
    reporter = true,
    env = {},
  }: { config?: string; reporter?: boolean; env?: { [name: string]: string } } = {},
) {
  const files = { 'a.spec.ts': `import { expect, test } from 'troupe/playwright';\n${source}` };
  const folder = suiteFolder(t, files, config, service.url);
  const { outcomes, said } = await runSuite(folder, { ...env, ...(reporter ? REPORTERS : {}) });
  const { batches } = (await service.call('GET', '/api/batches?limit=1')).body;
  const run = batches[0];
  t.ok(run, `a run: ${said.slice(0, 3_000)}`);
  const { body } = await service.call('GET', `/api/batches/${run.id}/tests`);
  const tests: readonly Entry[] = body.tests;
  const states = Object.fromEntries(
    tests.map(({ titlePath, state, flaky }) => [titlePath.join(' › '), flaky ? 'flaky' : state]),
  );
  return { run, tests, states, outcomes, said, whole: body.whole, folder };
}

const statuses = (entry: Entry | undefined) => entry?.attempts.map(({ status }) => status);

t.test(
  'A test that fails is an entry with its place, its failure and its session, and so are all others',
  async (t) => {
    const { run, tests, states } = await runOf(
      t,
      `test.describe('shop', () => {
  test('passes', async ({ page }) => { await page.setContent('<h1>Tea</h1>'); });
  test('fails', async ({ page }) => {
    await page.setContent('<h1>Tea</h1>');
    await expect(page.locator('h1')).toHaveText('Coffee', { timeout: 10 });
  });
});
test('needs no browser', async () => { expect(1).toBe(1); });`,
    );
    t.same(states, { 'shop › passes': 'completed', 'shop › fails': 'failed', 'needs no browser': 'completed' });
    t.match(run, { state: 'failed', counts: { total: 3, completed: 2, failed: 1 }, labels: { suite: 'test' } });
    t.not(run.endedAt, null);
    const failed = tests.find(({ state }) => state === 'failed');
    t.match(failed, { name: 'a.spec.ts › shop › fails', file: /a\.spec\.ts$/, line: 4 });
    const [attempt] = failed?.attempts ?? [];
    t.match(attempt, { attempt: 1, status: 'failed', durationMs: Number, startedAt: /^20/ });
    t.match(attempt?.failure, {
      code: 'MATCH_FAILED',
      line: 6,
      file: /a\.spec\.ts$/,
      expected: 'Coffee',
      received: 'Tea',
    });
    t.match(attempt?.failure?.message, /toHaveText[\s\S]*Coffee/);
    t.match(attempt?.failure?.frame, /toHaveText\('Coffee'/);
    const session = (await service.call('GET', `/api/sessions/${attempt?.sessionId}`)).body;
    t.match(session, { status: 'stopped', name: 'shop › fails', labels: { run: run.id } });
    const junit = (await service.call('GET', `/api/batches/${run.id}/junit`)).body;
    t.match(junit, /tests="3" failures="1" errors="0"/);
    t.match(junit, /<testcase name="shop › fails" classname="a.spec.ts"[^>]*><failure type="MATCH_FAILED"/);
    const { results } = (await service.call('GET', `/api/batches/${run.id}/ctrf`)).body;
    t.match(results.summary, { tests: 3, passed: 2, failed: 1, skipped: 0, other: 0 });
    const stats = (await service.call('GET', `/api/stats?flow=${encodeURIComponent('a.spec.ts › shop › fails')}`)).body;
    t.match(stats.flows, [{ runs: 1, failed: 1 }]);
  },
);

t.test('What is skipped, and what is expected to fail, counts as in Playwright', async (t) => {
  // Differs: the declared status decides, not the body's; a test that is skipped as declared never reaches a worker.
  const { run, states } = await runOf(
    t,
    `test.skip('declared skipped', async () => undefined);
test.fixme('to be mended', async () => undefined);
test('skips itself', async ({ page }) => { test.skip(true, 'no stock'); });
test('fails as expected', async ({ page }) => { test.fail(); expect(1).toBe(2); });
test.fail('fails as declared', async () => { expect(1).toBe(2); });
test.fail('passes, though it should fail', async ({ page }) => undefined);`,
  );
  t.same(states, {
    'declared skipped': 'skipped',
    'to be mended': 'skipped',
    'skips itself': 'skipped',
    'fails as expected': 'completed',
    'fails as declared': 'completed',
    'passes, though it should fail': 'failed',
  });
  t.match(run, { state: 'failed', counts: { total: 6, completed: 5, failed: 1, skipped: 3 } });
  const junit = (await service.call('GET', `/api/batches/${run.id}/junit`)).body;
  t.match(junit, /skipped="3"/);
  t.match(junit, /<skipped message="no stock"\/>/);
  t.match((await service.call('GET', `/api/batches/${run.id}/ctrf`)).body.results.summary, { passed: 2, skipped: 3 });
});

t.test('A test that passes in a retry is flaky, with both attempts and their sessions', async (t) => {
  // Differs: one entry has several attempts, each in a worker and a session of its own.
  const { run, tests, states } = await runOf(
    t,
    `test('second time lucky', async ({ page }, { retry }) => { expect(retry).toBe(1); });`,
    { config: 'retries: 2' },
  );
  t.same(states, { 'second time lucky': 'flaky' });
  t.same(statuses(tests[0]), ['failed', 'passed']);
  t.equal(new Set(tests[0]?.attempts.map(({ sessionId }) => sessionId)).size, 2);
  t.match(run, { state: 'completed', counts: { total: 1, completed: 1, flaky: 1 } });
  const { flows } = (
    await service.call('GET', `/api/stats?flow=${encodeURIComponent('a.spec.ts › second time lucky')}`)
  ).body;
  t.match(flows, [{ runs: 1, passed: 1, flakiness: 1 }]);
});

t.test('In serial mode a test that never passed is not flaky, and one that was not run is not passed', async (t) => {
  // Differs: the group's retry runs what passed again, and what follows a failure has results without having run.
  const { run, states } = await runOf(
    t,
    `test.describe.configure({ mode: 'serial' });
test('first', async ({}, { retry }) => { expect(retry).toBe(0); });
test('second', async () => { throw new Error('oh'); });
test('third', async () => undefined);`,
    { config: 'retries: 1' },
  );
  t.same(states, { first: 'flaky', second: 'failed', third: 'not run' });
  t.match(run, { state: 'failed', counts: { total: 3, failed: 1, notRun: 1, flaky: 1 } });
  const junit = (await service.call('GET', `/api/batches/${run.id}/junit`)).body;
  t.match(junit, /<testcase name="third"[^>]*><error /);
  const { results } = (await service.call('GET', `/api/batches/${run.id}/ctrf`)).body;
  t.match(results.summary, { other: 1 });
  t.match(
    results.tests.find(({ rawStatus }: { rawStatus: string }) => rawStatus === 'not run'),
    { status: 'other' },
  );
});

t.test('A beforeAll that fails fails the test that it was run for, and the rest was not run', async (t) => {
  // Differs: the failure comes before any fixture of the test, so that only the reporter knows of it.
  const { run, tests, states } = await runOf(
    t,
    `test.beforeAll(async () => { throw new Error('no database'); });
test('first', async ({ page }) => undefined);
test('second', async ({ page }) => undefined);`,
  );
  t.same(states, { first: 'failed', second: 'not run' });
  t.match(tests[0]?.attempts[0]?.failure?.message, /no database/);
  t.match(run, { state: 'failed', counts: { total: 2, failed: 1, notRun: 1 } });
});

t.test('A failure after the test ended it is the test’s, and one of the worker’s teardown is the run’s', async (t) => {
  // Differs: the fixture has seen the test pass, and says so before the failure happens.
  const { run, states, tests } = await runOf(
    t,
    `const mine = test.extend<{}, { account: string }>({
  account: [async ({}, use) => { await use('x'); throw new Error('account still open'); }, { scope: 'worker' }],
});
test.describe('orders', () => {
  test.afterAll(async () => { throw new Error('orders left'); });
  test('an order', async ({ page }) => undefined);
});
mine('an account', async ({ account }) => undefined);`,
  );
  t.equal(states['orders › an order'], 'failed');
  t.equal(states['an account'], 'completed');
  t.match(
    tests.map(({ attempts }) => attempts.at(-1)?.failure?.message).join(),
    /orders left[\s\S]*account still open/,
  );
  t.match(run, { state: 'failed', counts: { failed: 2 } });
});

t.test('A worker that dies takes its test with it, and the next one goes on', async (t) => {
  // Differs: no fixture is torn down, so the session is not ended, and only the reporter says how the test ended.
  const { states, tests } = await runOf(
    t,
    `test('dies', async ({ page }) => { process.exit(3); });
test('goes on', async ({ page }) => undefined);`,
  );
  t.same(states, { dies: 'failed', 'goes on': 'completed' });
  t.match(tests[0]?.attempts[0]?.failure?.message, /worker process exited unexpectedly/);
  for (const { attempts } of tests) t.type(attempts[0]?.sessionId, 'string');
});

t.test('What ended too late, and what the end of the suite cut off, says so', async (t) => {
  // Differs: time ends the test, once its own and once that of the whole suite.
  const slow = await runOf(
    t,
    `test('hangs', async ({ page }) => { test.setTimeout(1); await new Promise(() => undefined); });`,
  );
  t.same(slow.states, { hangs: 'failed' });
  t.match(slow.tests[0]?.attempts[0], { status: 'timedOut', failure: { code: 'WAIT_TIMEOUT' } });
  const cut = await runOf(
    t,
    `test('hangs', async ({ page }) => { test.setTimeout(0); await new Promise(() => undefined); });
test('is not reached', async ({ page }) => undefined);`,
    { config: 'globalTimeout: 6_000' },
  );
  t.equal(cut.states['is not reached'], 'not run');
  t.match(cut.states.hangs, /stopped|not run/);
  t.equal(cut.run.state, 'failed');
});

t.test('A suite that cannot begin is a run that failed', async (t) => {
  // Differs: there is no test at all, only an error outside of them.
  const { run, tests } = await runOf(t, `throw new Error('broken file');`);
  t.equal(run.state, 'failed');
  t.match(tests[0]?.attempts[0]?.failure?.message, /broken file/);
});

t.test('Without the reporter, the tests that began are the run, and it says that others may be missing', async (t) => {
  // Differs: nobody but the workers says anything, and nobody says that the suite is over.
  const { run, states, whole } = await runOf(
    t,
    `test.skip('declared skipped', async () => undefined);
test('passes', async ({ page }) => undefined);
test('fails', async ({ page }) => { expect(1).toBe(2); });
test('needs no browser', async () => undefined);
test('skips itself', async ({ page }) => { test.skip(true, 'no stock'); });
test('fails as expected', async () => { test.fail(); expect(1).toBe(2); });`,
    { reporter: false },
  );
  t.same(states, {
    passes: 'completed',
    fails: 'failed',
    'needs no browser': 'completed',
    'skips itself': 'skipped',
    'fails as expected': 'completed',
  });
  t.equal(whole, false);
  t.equal(run.suite.whole, false);
  t.match(run, { state: 'running', endedAt: null }, 'it may go on until it has been silent for a minute');
});

t.test('One command is one run, whatever its files, projects and workers', async (t) => {
  const config = `workers: 2, fullyParallel: true, projects: [{ name: 'one' }, { name: 'two' }]`;
  const { run, tests } = await runOf(t, `for (const n of [1, 2]) test('test ' + n, async () => undefined);`, {
    config,
  });
  t.same(tests.map(({ name }) => name).sort(), [
    'a.spec.ts › test 1 [one]',
    'a.spec.ts › test 1 [two]',
    'a.spec.ts › test 2 [one]',
    'a.spec.ts › test 2 [two]',
  ]);
  t.match(run, { state: 'completed', counts: { total: 4, completed: 4 } });
});

t.test('A test in the worker’s browser has the worker’s session, and a list of tests is no run', async (t) => {
  const { tests, folder, run } = await runOf(
    t,
    `test('a context of its own', async ({ browser }) => { await (await browser.newContext()).close(); });
test('no browser', async () => undefined);`,
  );
  const [own, none] = tests.map(({ attempts }) => attempts[0]?.sessionId);
  t.match((await service.call('GET', `/api/sessions/${own}`)).body, {
    name: 'browser of worker 0',
    labels: { run: run.id },
  });
  t.equal(none, null);
  await runSuite(folder, REPORTERS, '--list');
  const { batches } = (await service.call('GET', '/api/batches?limit=1')).body;
  t.equal(batches[0].id, run.id);
});

t.test('A suite whose tests need no browser passes without a service, and says that there is no run', async (t) => {
  const source = `import { expect, test } from 'troupe/playwright';\ntest('one', async () => undefined);`;
  const folder = suiteFolder(t, { 'a.spec.ts': source }, '', 'http://127.0.0.1:1');
  const { outcomes, said } = await runSuite(folder, REPORTERS);
  t.match(outcomes, { one: { status: 'passed' } }, said);
  t.match(said, /troupe: this run not sent to the dashboard: .*127\.0\.0\.1:1/);
});
