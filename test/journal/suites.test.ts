import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Journal } from '#troupe/journal/journal.js';
import { type ReportedTest, type TestAttempt, testStateOf } from '#troupe/protocol/batches/suite.js';
import { guardLeaks } from '../support/leaks.js';
import { journalPlace } from '../support/test-store.js';

guardLeaks(t);

const BEGAN_MS = Date.parse('2026-01-02T03:04:05.000Z');
const batchId = 'b00000000001';

type Status = TestAttempt['status'];

function attempt(number: number, status: Status, more: Partial<TestAttempt> = {}): TestAttempt {
  const startedAt = new Date(BEGAN_MS).toISOString();
  const common = { expectedStatus: 'passed', startedAt, durationMs: 5, sessionId: null, failure: null } as const;
  return { attempt: number, status, ...common, ...more };
}

function reported(id: string, ...attempts: readonly TestAttempt[]): ReportedTest {
  const about = { suite: 'a.spec.ts', project: null, repeat: 0, file: 'a.spec.ts', line: 3, column: 1, tags: [] };
  return { id, titlePath: [id], ...about, reason: null, attempts: [...attempts] };
}

async function fresh(t: Test) {
  const journal = await Journal.open(await journalPlace(t, join(t.testdir({}), 'troupe.db')));
  t.teardown(() => journal.close());
  const createdAt = new Date(BEGAN_MS).toISOString();
  await journal.write({
    keyValues: [{ kind: 'batch', id: batchId, data: { id: batchId, createdAt, name: null, labels: {} } }],
  });
  const now = (afterMs: number) => ({ nowMs: BEGAN_MS + afterMs, at: new Date(BEGAN_MS + afterMs).toISOString() });
  return {
    journal,
    report: (afterMs: number, tests: readonly ReportedTest[], more: { whole?: boolean; end?: boolean } = {}) =>
      journal.changeSuite({
        change: 'suiteReport',
        batchId,
        tests,
        whole: false,
        end: false,
        ...more,
        ...now(afterMs),
      }),
    expire: (afterMs: number) => journal.changeSuite({ change: 'suiteExpire', batchIds: [batchId], ...now(afterMs) }),
    due: async (afterMs: number) => (await journal.suitesDue(now(afterMs).nowMs)).includes(batchId),
    stop: (afterMs: number) => journal.changeSuite({ change: 'suiteStop', batchId, ...now(afterMs) }),
    counts: () => journal.batchCounts(batchId),
    tests: async () => (await journal.suiteTests(batchId)).map((text): ReportedTest => JSON.parse(text)),
    runs: () => journal.flowRuns({ since: '2000', until: '3000', limit: 100 }),
  };
}

t.test('Reports about a test complete each other, in whatever order they come', async (t) => {
  const suite = await fresh(t);
  t.equal(await suite.report(0, [reported('one'), reported('two')], { whole: true }), 1);
  t.match(await suite.counts(), { counts: { queued: 2 }, endedAt: null, suite: { state: 'running', isWhole: true } });
  const failure = { code: 'MATCH_FAILED', message: 'no' } as const;
  await suite.report(1, [reported('one', attempt(1, 'failed', { failure }))]);
  await suite.report(2, [reported('one', attempt(1, 'running', { sessionId: 'abc' }))]);
  await suite.report(3, [reported('one', attempt(2, 'running'))]);
  t.match(await suite.tests(), [
    { id: 'one', attempts: [{ status: 'failed', failure, sessionId: 'abc' }, { status: 'running' }] },
    { id: 'two', attempts: [] },
  ]);
  t.match(await suite.counts(), { counts: { queued: 1, running: 1 } });
  for (const _ of [1, 2]) await suite.report(4, [reported('one', attempt(2, 'passed'))], { end: true });
  t.match(await suite.counts(), {
    counts: { completed: 1, 'not run': 1, queued: 0, running: 0 },
    flaky: 1,
    suite: { state: 'ended', isWhole: true },
    endedAt: new Date(BEGAN_MS + 4).toISOString(),
  });
  const runs = await suite.runs();
  t.same(runs.map(({ status }) => status).sort(), ['failed', 'passed'], 'each attempt counts once');
  t.same([...new Set(runs.map(({ flow, sessionId }) => `${flow} ${sessionId}`))], [`a.spec.ts › one ${batchId}/0`]);
});

t.test('A worker’s teardown changes what its fixture said before, in the history, too', async (t) => {
  const suite = await fresh(t);
  await suite.report(0, [reported('one', attempt(1, 'passed', { sessionId: 'abc' }))]);
  await suite.report(1, [reported('one', attempt(1, 'failed'))]);
  t.match(await suite.tests(), [{ attempts: [{ status: 'failed', sessionId: 'abc' }] }]);
  t.match(await suite.runs(), [{ status: 'failed' }]);
  await suite.report(2, [reported('one', attempt(1, 'failed', { settled: true }))]);
  await suite.report(3, [reported('one', attempt(1, 'passed', { sessionId: 'abc' }))]);
  t.match(await suite.tests(), [{ attempts: [{ status: 'failed', sessionId: 'abc' }] }], 'Playwright said so');
});

t.test(
  'A suite that says nothing for a minute has ended with its last word, and goes on if it speaks again',
  async (t) => {
    const suite = await fresh(t);
    await suite.report(0, [reported('one', attempt(1, 'passed')), reported('two', attempt(1, 'running'))]);
    await suite.report(30_000, []);
    t.equal(await suite.due(89_999), false);
    t.equal(await suite.due(90_000), true);
    await suite.expire(200_000);
    t.match(await suite.counts(), {
      counts: { completed: 1, failed: 1 },
      suite: { state: 'lapsed', isWhole: false },
      endedAt: new Date(BEGAN_MS + 30_000).toISOString(),
    });
    await suite.report(210_000, []);
    t.match(await suite.counts(), { counts: { completed: 1, running: 1 }, suite: { state: 'running' }, endedAt: null });
    await suite.report(220_000, [reported('two', attempt(1, 'passed'))], { end: true });
    t.match(await suite.counts(), { counts: { completed: 2 }, suite: { state: 'ended' } });
    await suite.report(230_000, []);
    t.match(await suite.counts(), { suite: { state: 'ended' }, endedAt: new Date(BEGAN_MS + 220_000).toISOString() });
  },
);

t.test('A run that was stopped or removed takes no more reports', async (t) => {
  const suite = await fresh(t);
  await suite.report(0, [reported('one', attempt(1, 'running'))]);
  await suite.stop(5);
  t.equal(await suite.report(6, [reported('one', attempt(1, 'passed'))]), 0);
  t.match(await suite.counts(), { suite: { state: 'stopped' } });
  await suite.journal.removeBatch(batchId);
  t.equal(await suite.report(7, [reported('one')]), 0);
  t.same(await suite.tests(), []);
  t.equal((await suite.counts()).suite, null);
});

t.test('Old runs of suites are removed when old joined ones are', async (t) => {
  const suite = await fresh(t);
  await suite.report(0, [reported('one', attempt(1, 'passed'))], { end: true });
  const old = { runsBefore: '2000', batchesBefore: '3000' };
  await suite.journal.prune({ ...old, joinedBefore: '2000' });
  t.equal((await suite.tests()).length, 1);
  await suite.journal.prune({ ...old, joinedBefore: '3000' });
  t.equal((await suite.tests()).length, 0);
});

t.test('The state of a test is counted as Playwright counts it', async (t) => {
  // What is expected, the attempts, the state while the suite runs and after its end.
  const cases: readonly [Status[], string, string, TestAttempt['expectedStatus']?][] = [
    [[], 'queued', 'not run'],
    [['running'], 'running', 'stopped'],
    [['passed'], 'completed', 'completed'],
    [['failed', 'running'], 'running', 'failed'],
    [['failed', 'passed'], 'flaky', 'flaky'],
    [['timedOut', 'timedOut'], 'failed', 'failed'],
    [['passed', 'passed'], 'completed', 'completed'],
    [['skipped'], 'not run', 'not run'],
    [['skipped'], 'skipped', 'skipped', 'skipped'],
    [['failed', 'skipped'], 'failed', 'failed'],
    [['failed', 'skipped'], 'flaky', 'flaky', 'skipped'],
    [['skipped', 'passed'], 'completed', 'completed'],
    [['interrupted'], 'stopped', 'stopped'],
    [['passed', 'interrupted'], 'completed', 'completed'],
    [['failed'], 'completed', 'completed', 'failed'],
    [['passed'], 'failed', 'failed', 'failed'],
    [['timedOut'], 'failed', 'failed', 'failed'],
  ];
  for (const [statuses, running, ended, expectedStatus = 'passed'] of cases) {
    const attempts = statuses.map((status, index) => attempt(index + 1, status, { expectedStatus }));
    const [now, later] = (['open', 'ended'] as const).map((end) => {
      const { state, flaky } = testStateOf(attempts, end);
      return flaky ? 'flaky' : state;
    });
    t.same([now, later], [running, ended], `${statuses} of ${expectedStatus}`);
  }
  t.same(testStateOf([attempt(1, 'running')], 'silent'), { state: 'failed', flaky: false }, 'its process has died');
});
