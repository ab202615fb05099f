import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'pg';
import t, { type Test } from 'tap';
import type { JoinedChange } from '#troupe/journal/joined-changes.js';
import { Journal } from '#troupe/journal/journal.js';
import { said } from '../journal/stored-sessions.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import type { PostgresServer } from '../support/postgres/server.mjs';
import { createDatabase, ownPostgres, postgresMissing, query } from '../support/test-store.js';

guardLeaks(t);

const HOUR_MS = 3_600_000;
const missing = await postgresMissing();
const server = missing === false ? await ownPostgres(t) : null;

/** Of a node: the journal, and how far its clock is behind. */
interface Node {
  readonly journal: Journal;
  readonly behindMs: number;
}

interface Job {
  readonly retries?: number;
  readonly flow?: string;
}

/** A change as machines cause it, without the time. */
type Change<Of = JoinedChange> = Of extends unknown ? Omit<Of, 'batchId' | 'nowMs' | 'at'> : never;

/** Two nodes that share a database; the clock of the second is an hour behind. */
async function twoNodes(t: Test, on: PostgresServer) {
  const database = await createDatabase(on.url('postgres'));
  const open = async (behindMs: number): Promise<Node> => {
    const journal = await Journal.open({ file: join(t.testdir({}), `${behindMs}.db`), database, isShared: true });
    t.teardown(() => journal.close());
    return { journal, behindMs };
  };
  const nodes = [await open(0), await open(HOUR_MS)] as const;
  const sql = (text: string, ...values: unknown[]) => query(database, text, values);
  const batch = async (jobs: readonly Job[]) => {
    const batchId = `b${randomBytes(6).toString('hex').slice(0, 11)}`;
    const createdAt = new Date().toISOString();
    await nodes[0].journal.write({
      keyValues: [{ kind: 'batch', id: batchId, data: { id: batchId, createdAt, name: null, labels: {} } }],
      joined: jobs.map(({ retries = 0, flow = null }, job) => ({ batchId, job, name: `job ${job}`, flow, retries })),
    });
    const change = ({ journal, behindMs }: Node, what: Change) => {
      const now = new Date(Date.now() - behindMs);
      return journal.changeJoined({ ...what, batchId, nowMs: now.getTime(), at: now.toISOString() } as JoinedChange);
    };
    return {
      batchId,
      claim: (node: Node, token: string, leaseMs = 300_000) =>
        change(node, { change: 'claim', token, leaseMs, machine: 'm' }),
      renew: (node: Node, token: string, leaseMs = 300_000) => change(node, { change: 'renew', token, leaseMs }),
      note: (node: Node, token: string, file: string) => change(node, { change: 'artifacts', token, file }),
      end: (node: Node, token: string, state: 'completed' | 'failed' = 'completed', data = '{}') =>
        change(node, {
          change: 'end',
          token,
          state,
          mayPassAgain: state === 'failed',
          data,
          outcome: null,
          durationMs: 5,
          code: null,
        }),
      stop: (node: Node) => change(node, { change: 'stop' }),
      expire: (node: Node) => change(node, { change: 'expire', batchIds: [batchId] }),
      due: async ({ journal, behindMs }: Node) => (await journal.joinedDue(Date.now() - behindMs)).includes(batchId),
      /** As if the time of a lease had passed. */
      makeLate: () => sql('update joined_attempts set expires_at = expires_at - 600000 where batch_id = $1', batchId),
      states: async ({ journal }: Node) => (await journal.joinedJobs(batchId)).map(({ state }) => state),
      attempts: ({ journal }: Node) => journal.joinedAttempts(batchId),
    };
  };
  return { nodes, batch, sql, database };
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

t.test('Joined batches in a database that nodes share', { skip: missing }, async (t) => {
  if (server === null) return;
  const { nodes, batch, sql, database } = await twoNodes(t, server);
  const [one, other] = nodes;
  const nodeOf = (index: number) => (index % 2 === 0 ? one : other);

  await t.test('give each job once, whichever node is asked', async (t) => {
    const { claim, states, attempts } = await batch(times(150, () => ({})));
    const given = await Promise.all(times(200, (n) => claim(nodeOf(n), `token ${n}`)));
    const jobs = given.filter((job) => job > 0).sort((a, b) => a - b);
    t.same(
      jobs,
      times(150, (n) => n + 1),
    );
    t.equal(given.filter((job) => job === 0).length, 50);
    t.same(new Set(await states(other)), new Set(['running']));
    t.equal((await attempts(one)).length, 150, 'one attempt each');
  });

  await t.test('give a claim that is asked for at both nodes at once one job', async (t) => {
    const { claim, attempts } = await batch([{}, {}, {}]);
    const given = await Promise.all(times(10, (n) => claim(nodeOf(n), 'the same')));
    t.equal(new Set(given).size, 1);
    t.equal((await attempts(one)).length, 1);
  });

  await t.test('take an expired claim back once', async (t) => {
    const { claim, makeLate, attempts, states } = await batch([{ retries: 5 }]);
    t.equal(await claim(one, 'late', 300_000), 1);
    await makeLate();
    const given = await Promise.all(times(20, (n) => claim(nodeOf(n), `next ${n}`)));
    t.same(
      given.filter((job) => job > 0),
      [1],
    );
    t.match(await attempts(other), [
      { attempt: 1, state: 'lost' },
      { attempt: 2, state: 'running' },
    ]);
    t.same(await states(one), ['running']);
  });

  await t.test('change nothing for a token of a claim that has ended', async (t) => {
    const { claim, end, renew, note, makeLate, attempts, states } = await batch([{ retries: 1 }]);
    await claim(one, 'late');
    await makeLate();
    const results = await Promise.all([
      end(one, 'late', 'completed', '"late"'),
      claim(other, 'next'),
      renew(one, 'late'),
      note(other, 'late', 'a/late.zip'),
    ]);
    t.same(results, [0, 1, 0, 0]);
    t.equal(await end(other, 'next', 'failed', '"next"'), 1);
    t.equal(await end(one, 'late', 'completed', '"late"'), 0);
    t.match(await attempts(one), [
      { state: 'lost', data: null, artifacts: null },
      { state: 'ended', data: '"next"' },
    ]);
    t.same(await states(one), ['failed']);
  });

  await t.test('end by the clock of the database, not by that of a node', async (t) => {
    const { claim, renew, end, expire, due, states, attempts, makeLate } = await batch([{}, {}]);
    t.equal(await claim(other, 'a'), 1, 'its node thinks that this lease ended long ago');
    t.equal(await due(one), false);
    t.equal(await renew(one, 'a'), 1);
    t.equal(await claim(one, 'b'), 2);
    t.equal(await renew(other, 'b'), 1);
    t.equal(await end(one, 'b'), 1);
    await makeLate();
    for (const node of nodes) t.equal(await due(node), true);
    await Promise.all(times(6, (n) => expire(nodeOf(n))));
    t.same(await states(other), ['failed', 'completed']);
    t.match(await attempts(other), [{ state: 'lost' }, { state: 'ended' }]);
    const { rows } = await sql("select ended_at from joined_jobs where name = 'job 0' and state = 'failed'");
    const sinceMs = Date.now() - Math.max(...rows.map(({ ended_at }) => Date.parse(ended_at)));
    t.ok(sinceMs < HOUR_MS / 2, 'also if the node with the wrong clock ended it');
    t.equal(await due(other), false);
  });

  await t.test('count each end in the history of flows, although both nodes end some at once', async (t) => {
    const batches = await Promise.all(times(6, () => batch(times(10, () => ({ flow: 'shop/buy' })))));
    const all = batches.flatMap((joined, at) => times(10, (n) => ({ joined, at, token: `token ${n}` })));
    await Promise.all(all.map(({ joined, at, token }) => joined.claim(nodeOf(at), token)));
    const ends = await Promise.all(all.map(({ joined, at, token }) => joined.end(nodeOf(at), token)));
    t.same(new Set(ends), new Set([1]));
    const runs = await one.journal.flowRuns({ since: '2026', until: '9', flow: 'shop/buy', limit: 100 });
    t.equal(runs.length, 60);
  });

  await t.test('neither hang nor fail when both nodes change several of them, in different orders', async (t) => {
    const batches = await Promise.all(times(4, () => batch(times(20, () => ({ retries: 1, flow: 'x' })))));
    const work = times(20, (round) =>
      batches.flatMap((joined, at) => [
        async () => {
          const token = `one ${round}`;
          if ((await joined.claim(one, token)) > 0) await joined.end(one, token);
        },
        async () => {
          const token = `other ${round}`;
          if ((await (batches[3 - at] ?? joined).claim(other, token)) > 0) await joined.expire(other);
        },
        async () => {
          // Events and joined batches share transactions, and all nodes wait for the number of an event.
          await nodeOf(at).journal.write({ events: [said(round, 'x')] });
        },
      ]),
    );
    await Promise.all(work.flat().map((run) => run()));
    const states = await Promise.all(batches.map(({ states }) => states(one)));
    t.notOk(states.flat().includes('queued'));
  });

  await t.test('stop, or go, with all that is claimed of them', async (t) => {
    const stopped = await batch([{}, {}]);
    await stopped.claim(one, 'a');
    const [, claimed] = await Promise.all([stopped.stop(other), stopped.claim(one, 'b')]);
    t.ok(claimed === 0 || claimed === 2);
    t.same(await stopped.states(one), ['stopped', 'stopped']);
    t.same([await stopped.end(one, 'a'), await stopped.end(other, 'b'), await stopped.claim(one, 'c')], [0, 0, 0]);
    const gone = await batch(times(5, () => ({ flow: 'gone' })));
    await gone.claim(one, 'a');
    await Promise.all([
      other.journal.removeBatch(gone.batchId),
      ...times(10, (n) => gone.claim(one, `more ${n}`)),
      gone.end(one, 'a'),
    ]);
    t.same([await gone.states(one), await gone.attempts(one)], [[], []], 'no claim comes after the removal');
  });

  await t.test('leave no claim behind when they are removed for their age', async (t) => {
    const { batchId } = await batch([{}]);
    await sql("update batches set created_at = '2020' where id = $1", batchId);
    // As a node does that claims a job at the same time.
    const claiming = new Client({ connectionString: database });
    await claiming.connect();
    t.teardown(() => claiming.end());
    await claiming.query('begin');
    await claiming.query('select id from batches where id = $1 for update', [batchId]);
    const removed = one.journal.prune({ runsBefore: '', batchesBefore: '2021', joinedBefore: '2021' });
    await eventually('the removal waits for the claim', async () => {
      const { rows } = await sql('select 1 from pg_locks where not granted');
      return rows.length > 0;
    });
    const claim = "insert into joined_attempts values ($1, 'token', 0, 1, 'm', 'running', 1)";
    await claiming.query(claim, [batchId]);
    await claiming.query('commit');
    await removed;
    const { rows } = await sql('select 1 from joined_attempts where batch_id = $1', batchId);
    t.same(rows, []);
  });

  await t.test('are one for each build', async (t) => {
    const ids = times(20, (n) => `j${String(n).padStart(11, '0')}`);
    const made = await Promise.allSettled(
      ids.map((sessionId, n) =>
        nodeOf(n).journal.write({
          submissions: [{ key: 'join\n4711', sessionId, fingerprint: 'h' }],
          joined: [{ batchId: sessionId, job: 0, name: 'a', flow: null, retries: 0 }],
        }),
      ),
    );
    t.equal(made.filter(({ status }) => status === 'fulfilled').length, 1);
    const winner = (await one.journal.submission('join\n4711'))?.sessionId ?? '';
    await eventually('all have seen it', async () => {
      return (await other.journal.submission('join\n4711'))?.sessionId === winner;
    });
    const { rows } = await sql("select batch_id from joined_jobs where batch_id like 'j0000%'");
    t.same(rows, [{ batch_id: winner }], 'nothing is left of the others');
  });
});
