import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Journal } from '#troupe/journal/journal.js';
import { guardLeaks } from '../support/leaks.js';
import { journalPlace } from '../support/test-store.js';

guardLeaks(t);

const HOUR_MS = 3_600_000;
const BEGAN_MS = Date.parse('2026-01-02T03:04:05.000Z');

/** A joined batch in a journal of its own, and what machines do to it at a time after its beginning, in milliseconds. */
async function fresh(t: Test, jobs: readonly { readonly retries?: number; readonly flow?: string }[]) {
  const place = await journalPlace(t, join(t.testdir({}), 'troupe.db'));
  let journal = await Journal.open(place);
  t.teardown(() => journal.close());
  const batchId = 'b00000000001';
  const createdAt = new Date(BEGAN_MS).toISOString();
  await journal.write({
    keyValues: [{ kind: 'batch', id: batchId, data: { id: batchId, createdAt, name: null, labels: {} } }],
    joined: jobs.map(({ retries = 0, flow = null }, job) => ({ batchId, job, name: `job ${job}`, flow, retries })),
  });
  const now = (afterMs: number) => ({
    nowMs: BEGAN_MS + afterMs,
    at: new Date(BEGAN_MS + afterMs).toISOString(),
  });
  const leaseMs = 30_000;
  return {
    journal: () => journal,
    restart: async () => {
      await journal.close();
      journal = await Journal.open(place);
    },
    claim: (token: string, afterMs: number, machine = 'm') =>
      journal.changeJoined({ change: 'claim', batchId, token, machine, leaseMs, ...now(afterMs) }),
    renew: (token: string, afterMs: number) =>
      journal.changeJoined({ change: 'renew', batchId, token, leaseMs, ...now(afterMs) }),
    note: (token: string, afterMs: number, file: string) =>
      journal.changeJoined({ change: 'artifacts', batchId, token, file, ...now(afterMs) }),
    end: (token: string, afterMs: number, more: { state?: 'completed' | 'failed'; data?: string } = {}) => {
      const { state = 'completed', data = '{}' } = more;
      const result = { state, mayPassAgain: state === 'failed', data, durationMs: 5, code: null };
      return journal.changeJoined({ change: 'end', batchId, token, outcome: null, ...result, ...now(afterMs) });
    },
    expire: (afterMs: number) => journal.changeJoined({ change: 'expire', batchIds: [batchId], ...now(afterMs) }),
    due: async (afterMs: number) => (await journal.joinedDue(now(afterMs).nowMs)).includes(batchId),
    stop: () => journal.changeJoined({ change: 'stop', batchId, ...now(1) }),
    states: async () => (await journal.joinedJobs(batchId)).map(({ state }) => state),
    attempts: () => journal.joinedAttempts(batchId),
    counts: () => journal.batchCounts(batchId),
  };
}

t.test('A claim is the same when it is asked for again, and lost once its lease has ended', async (t) => {
  const batch = await fresh(t, [{ retries: 1 }, {}]);
  t.equal(await batch.claim('one', 0), 1);
  t.equal(await batch.claim('one', 20_000), 1, 'the answer was lost');
  t.equal(await batch.claim('two', 20_000), 2);
  t.equal(await batch.claim('three', 20_000), 0);
  t.equal(await batch.due(49_999), false);
  t.equal(await batch.due(50_000), true, 'a claim that is asked for again lasts from then on');
  t.equal(await batch.renew('two', 49_999), 1);
  t.equal(await batch.claim('one', 50_000), -1, 'a token is for one claim');
  t.same(await batch.states(), ['queued', 'running'], 'it has a retry left');
  t.equal(await batch.claim('four', 60_000, 'other'), 1);
  t.equal(await batch.end('one', 60_000), 0);
  t.equal(await batch.note('one', 60_000, 'late.zip'), 0);
  t.equal(await batch.renew('one', 60_000), 0);
  t.equal(await batch.end('four', 61_000), 1);
  t.equal(await batch.end('four', 62_000, { data: '"another"' }), 1, 'a result that is sent again');
  t.same(await batch.states(), ['completed', 'running']);
  t.equal(await batch.end('two', 80_000), 0, 'nobody else looked, and yet the lease has ended');
  t.same(await batch.states(), ['completed', 'failed'], 'it had no retry');
  t.match(await batch.attempts(), [
    { job: 0, attempt: 1, machine: 'm', state: 'lost', data: null },
    { job: 0, attempt: 2, machine: 'other', state: 'ended', data: '{}', artifacts: null },
    { job: 1, attempt: 1, state: 'lost', data: null },
  ]);
  const endedAt = new Date(BEGAN_MS + 80_000).toISOString();
  const none = { skipped: 0, repaired: 0, suite: null };
  t.same(await batch.counts(), { counts: { completed: 1, failed: 1 }, flaky: 1, ...none, endedAt });
});

t.test('A restart in the middle loses nothing', async (t) => {
  const batch = await fresh(t, [{ retries: 1, flow: 'shop/buy' }, { flow: 'login' }]);
  await batch.claim('one', 0);
  await batch.claim('two', 0);
  await batch.note('one', 1, 'one.zip');
  await batch.end('one', 1, { state: 'failed', data: '"first"' });
  await batch.restart();
  t.same(await batch.states(), ['queued', 'running']);
  t.equal(await batch.renew('two', 2), 1);
  t.equal(await batch.end('two', 3), 1);
  t.equal(await batch.claim('three', 3), 1);
  t.equal(await batch.end('three', 4), 1);
  t.match(await batch.attempts(), [{ data: '"first"', artifacts: 'one.zip' }, { attempt: 2 }, {}]);
  const range = { since: '2026-01-01', until: '2026-02-01', limit: 10 };
  const runs = await batch.journal().flowRuns(range);
  t.same(
    runs.map(({ flow, status }) => `${flow} ${status}`).sort(),
    ['login passed', 'shop/buy failed', 'shop/buy passed'],
    'the history of flows has them',
  );
});

t.test('A batch that no machine asks about ends after an hour', async (t) => {
  const batch = await fresh(t, [{ retries: 10 }, {}]);
  await batch.claim('one', 0);
  await batch.expire(30_000);
  t.same(await batch.states(), ['queued', 'queued']);
  t.equal(await batch.due(HOUR_MS + 30_000 - 1), false);
  await batch.claim('two', HOUR_MS);
  t.equal(await batch.due(HOUR_MS + 29_000), false, 'a machine has come');
  t.equal(await batch.due(2 * HOUR_MS + 30_000), true);
  await batch.expire(2 * HOUR_MS + 30_001);
  t.same(await batch.states(), ['stopped', 'stopped']);
  t.equal(await batch.due(9 * HOUR_MS), false);
  t.equal(await batch.claim('three', 9 * HOUR_MS), 0);
});

t.test('What is claimed of a batch that is stopped or removed changes nothing', async (t) => {
  const batch = await fresh(t, [{}, {}]);
  await batch.claim('one', 0);
  await batch.stop();
  t.same(await batch.states(), ['stopped', 'stopped']);
  t.equal(await batch.end('one', 2), 0);
  await batch.journal().prune({ runsBefore: '', batchesBefore: '2027', joinedBefore: '2025' });
  t.equal((await batch.states()).length, 2, 'a joined batch has no sessions, and is kept as long as they are');
  await batch.journal().prune({ runsBefore: '', batchesBefore: '2027', joinedBefore: '2027' });
  t.same([await batch.states(), await batch.attempts()], [[], []]);
});

t.test('Claims that come at once get a job each', async (t) => {
  const batch = await fresh(t, [{}, {}, {}]);
  const claims = await Promise.all(['one', 'two', 'three', 'four'].map((token) => batch.claim(token, 0)));
  t.same(claims.sort(), [0, 1, 2, 3], 'each job is claimed once, however many claims share a transaction');
});
