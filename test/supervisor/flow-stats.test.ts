import t from 'tap';
import { Journal } from '#troupe/journal/journal.js';
import type { ErrorBody, ErrorCode } from '#troupe/protocol/errors.js';
import { eventRow } from '#troupe/protocol/event-row.js';
import { SessionId } from '#troupe/protocol/session.js';
import { Stats } from '#troupe/protocol/stats.js';
import { flowStats } from '#troupe/supervisor/jobs/flow-stats.js';
import { ManualClock } from '../actors/manual-clock.js';
import { session } from '../journal/stored-sessions.js';
import { guardLeaks } from '../support/leaks.js';
import { journalPlace } from '../support/test-store.js';

guardLeaks(t);

const idOf = (n: number) => SessionId.parse(`s${String(n).padStart(11, '0')}`);

/** A flow's end in a session, on a day of the December before the clock's instant. */
function ended(
  session: number,
  flow: string,
  day: number,
  status: 'passed' | 'failed',
  durationMs = 100,
  depth = 1,
  why: ErrorCode | ErrorBody = 'WAIT_TIMEOUT',
) {
  const at = new Date(Date.UTC(2025, 11, day, 12, session)).toISOString();
  const error = typeof why === 'string' ? { error: 'It failed', code: why } : why;
  const data = { path: flow, depth, status, durationMs, ...(status === 'failed' ? { error } : {}) };
  return eventRow(idOf(session), { type: 'FlowFinished', data }, at);
}

t.test('What flows did is told from the journal, also when their sessions are gone', async (t) => {
  const journal = await Journal.open(await journalPlace(t, `${t.testdir({})}/troupe.db`));
  t.teardown(() => journal.close());
  const clock = new ManualClock();
  await journal.write({
    events: [
      ended(1, 'buy', 10, 'passed', 100),
      ended(2, 'buy', 10, 'failed', 900),
      // One job that was tried twice.
      ended(3, 'buy', 11, 'failed', 900),
      ended(3, 'buy', 11, 'passed', 300),
      ended(4, 'buy', 20, 'passed', 200),
      ended(5, 'login', 20, 'failed'),
      ended(6, 'login', 21, 'failed'),
      ended(6, 'helper', 21, 'passed', 5, 2),
      ended(7, 'ancient', -60, 'passed'),
    ],
  });
  await journal.remove(idOf(1));

  const all = Stats.parse(await flowStats(journal, clock, {}));
  t.same(
    all.flows.map(({ flow }) => flow),
    ['buy', 'login'],
    'flows that others call, and what is older, are not told',
  );
  const [buy, login] = all.flows;
  t.match(buy, { runs: 4, passed: 3, failed: 1, repaired: 0, passRate: 0.75 });
  t.same(buy?.durationMs, { p50: 200, p95: 1200 }, 'a run took as long as its attempts together');
  t.equal(buy?.flakiness, 0.25, 'one run passed after a failed attempt');
  t.equal(buy?.changes, 0.5, 'one run failed after one that passed, and the next one passed again');
  t.match(login, { runs: 2, passRate: 0, flakiness: 0, changes: 0, durationMs: null });
  t.match(buy?.periods, [
    { from: '2025-12-10T00:00:00.000Z', runs: 2, passed: 1 },
    { from: '2025-12-11T00:00:00.000Z', runs: 1, passed: 1, flakiness: 1, changes: 1 },
    { from: '2025-12-20T00:00:00.000Z', runs: 1 },
  ]);

  const weeks = await flowStats(journal, clock, { flow: 'buy', by: 'week' });
  t.same(
    weeks.flows.map(({ periods }) => periods.map(({ from, runs }) => [from.slice(0, 10), runs])),
    [
      [
        ['2025-12-08', 3],
        ['2025-12-15', 1],
      ],
    ],
    'weeks begin on Monday',
  );
  const late = await flowStats(journal, clock, { since: '2025-12-21T00:00:00.000Z' });
  t.match(late.flows, [{ flow: 'login', runs: 1 }]);
  await journal.prune({
    runsBefore: '2025-12-21T00:00:00.000Z',
    batchesBefore: '2025-12-21T00:00:00.000Z',
    joinedBefore: '2025-12-21T00:00:00.000Z',
  });
  t.match((await flowStats(journal, clock, {})).flows, [{ flow: 'login', runs: 1 }]);
});

t.test('A run that a model completed is repaired: neither passed nor flaky', async (t) => {
  const journal = await Journal.open(await journalPlace(t, `${t.testdir({})}/troupe.db`));
  t.teardown(() => journal.close());
  const clock = new ManualClock();
  const end = (n: number, outcome: 'repaired' | undefined) =>
    session(n, {
      createdAt: '2025-12-10T00:00:00.000Z',
      status: 'completed',
      state: 'completed',
      ...(outcome === undefined ? {} : { outcome }),
    });
  // Continued by the model, completed by hand, and only then one that passed; the end is written with the flow, and later.
  await journal.write({ events: [ended(1, 'buy', 10, 'failed', 900), ended(1, 'buy', 10, 'passed', 300)] });
  await journal.write({ records: [end(1, 'repaired')] });
  await journal.write({ events: [ended(2, 'buy', 11, 'failed', 900)], records: [end(2, 'repaired')] });
  await journal.write({ events: [ended(3, 'buy', 12, 'passed', 200)], records: [end(3, undefined)] });
  const [buy] = (await flowStats(journal, clock, {})).flows;
  t.match(buy, { runs: 3, passed: 1, failed: 0, repaired: 2, flakiness: 0, durationMs: { p50: 200, p95: 200 } });
  t.equal(buy?.changes, 1 / 3);
});

t.test('Totals of all flows, and why they failed', async (t) => {
  const journal = await Journal.open(await journalPlace(t, `${t.testdir({})}/troupe.db`));
  t.teardown(() => journal.close());
  const clock = new ManualClock();
  const none = Stats.parse(await flowStats(journal, clock, {}));
  t.match(none, { flows: [], totals: { runs: 0, passRate: 0, durationMs: null, failures: [], periods: [] } });
  const cause = { error: 'Not there', code: 'LOCATOR_NOT_FOUND' } as const;
  await journal.write({
    events: [
      ended(1, 'buy', 10, 'passed', 100),
      ended(2, 'login', 11, 'passed', 300),
      ended(3, 'buy', 11, 'failed', 100, 1, 'MATCH_FAILED'),
      ended(4, 'login', 11, 'failed', 100, 1, 'LOCATOR_NOT_FOUND'),
      // It failed in a flow that it called: the cause counts.
      ended(5, 'buy', 12, 'failed', 100, 1, { error: 'buy failed', code: 'FLOW_FAILED', details: { cause } }),
      // What failed in a first attempt is no failure of the run.
      ended(6, 'login', 12, 'failed', 100, 1, 'HARD_TIMEOUT'),
      ended(6, 'login', 12, 'passed', 200),
    ],
  });
  const { totals, flows } = Stats.parse(await flowStats(journal, clock, {}));
  t.match(totals, {
    runs: 6,
    passed: 3,
    failed: 3,
    passRate: 0.5,
    flakiness: 1 / 6,
    durationMs: { p50: 300, p95: 300 },
  });
  t.equal(totals.changes, 3 / 6, 'a run is compared with the previous one of its own flow');
  t.same(totals.failures, [
    { code: 'LOCATOR_NOT_FOUND', runs: 2 },
    { code: 'MATCH_FAILED', runs: 1 },
  ]);
  t.same(
    totals.periods.map(({ from, runs, passed }) => [from.slice(0, 10), runs, passed]),
    [
      ['2025-12-10', 1, 1],
      ['2025-12-11', 3, 1],
      ['2025-12-12', 2, 1],
    ],
  );
  t.match(Object.fromEntries(flows.map(({ flow, lastResult, failures }) => [flow, { lastResult, failures }])), {
    buy: { lastResult: 'failed', failures: [{ code: 'MATCH_FAILED', runs: 1 }, { code: 'LOCATOR_NOT_FOUND' }] },
    login: { lastResult: 'flaky', failures: [{ code: 'LOCATOR_NOT_FOUND', runs: 1 }] },
  });
});
