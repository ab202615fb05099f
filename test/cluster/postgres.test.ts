import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import t from 'tap';
import { CallerUsage } from '#troupe/cluster/caller-usage.js';
import type { Claim, NodeDescription } from '#troupe/cluster/cluster-store.js';
import { servedScore } from '#troupe/cluster/fair-share.js';
import { leaseTimes } from '#troupe/cluster/lease-times.js';
import { PostgresClusterStore } from '#troupe/cluster/postgres-cluster-store.js';
import { endClaims, lockClaims, queueAfter, queueJobs } from '#troupe/journal/postgres/claim-writes.js';
import { connectPostgres } from '#troupe/journal/postgres/connect-postgres.js';
import { migratePostgres } from '#troupe/journal/postgres/migrate-postgres.js';
import type { Schema } from '#troupe/journal/schema.js';
import { guardLeaks } from '../support/leaks.js';
import { postgresPrograms, startPostgres } from '../support/postgres/server.mjs';

/** Rolls a transaction back that found a stale claim. */
const STALE = new Error('stale');

guardLeaks(t);

/** Long: no one renews here, and a busy machine is slow. */
const TIMES = leaseTimes(20);
const LOST_AFTER_SECONDS = TIMES.lostAfterMs / 1000 + 1;
const WORKERS = 20;
const JOBS = process.env.TROUPE_PROOF === 'cluster' ? 5_000 : 500;
const CALLERS = 5;

if (postgresPrograms() === null) {
  t.comment('PostgreSQL is not installed');
  t.pass('nothing to test');
} else {
  const server = await startPostgres();
  t.teardown(() => server.remove());
  const url = server.url('postgres');
  const database = connectPostgres<Schema>({ url, connections: WORKERS, name: 'troupe cluster' });
  t.teardown(() => database.close());
  const { kysely } = database;
  await migratePostgres(kysely, url);
  const store = new PostgresClusterStore(kysely, TIMES);

  const node = (id: string, changes: Partial<NodeDescription> = {}): NodeDescription => ({
    id,
    startToken: randomUUID(),
    home: `home of ${id}`,
    url: 'http://127.0.0.1:1',
    version: '1.0.0',
    schema: 1,
    slots: 10,
    keyFingerprint: 'key',
    ...changes,
  });
  const join = async (id: string, changes: Partial<NodeDescription> = {}) => {
    const described = node(id, changes);
    const answer = await store.register(described, await store.startOf(id));
    return { start: described, answer };
  };
  const queue = (jobs: readonly { readonly sessionId: string; readonly caller: string }[]) =>
    kysely.transaction().execute((transaction) => queueJobs(transaction, jobs));
  /** As a write of the journal does: false if the claim is gone, and nothing was written. */
  const write = async (claims: readonly Claim[], change: 'none' | 'end' | 'requeue' = 'none') => {
    const ids = claims.map(({ sessionId }) => sessionId);
    try {
      await kysely.transaction().execute(async (transaction) => {
        if ((await lockClaims(transaction, claims)).length > 0) throw STALE;
        if (change === 'end') await endClaims(transaction, ids);
        if (change === 'requeue') await queueAfter(transaction, { again: ids, accepted: [] });
      });
      return true;
    } catch (error) {
      if (error !== STALE) throw error;
      return false;
    }
  };
  const makeOld = (id: string) =>
    sql`update cluster_nodes set seen = now() - ${LOST_AFTER_SECONDS} * interval '1 second' where id = ${id}`.execute(
      kysely,
    );
  const clean = async () => {
    for (const table of ['cluster_nodes', 'cluster_claims', 'cluster_queue', 'cluster_callers'] as const) {
      await kysely.deleteFrom(table).execute();
    }
  };

  t.beforeEach(clean);

  t.test('20 workers claim every job once, and callers take turns', async (t) => {
    const { start } = await join('a');
    const jobs = Array.from({ length: JOBS }, (_, n) => ({
      sessionId: `s${n}`,
      caller: `c${n < JOBS / 2 ? 0 : n % CALLERS}`,
    }));
    for (let from = 0; from < JOBS; from += 500) await queue(jobs.slice(from, from + 500));
    const callerOf = new Map(jobs.map(({ sessionId, caller }) => [sessionId, caller]));
    const claimed: string[] = [];
    const worker = async () => {
      for (;;) {
        const claims = await store.claim(start, 3);
        if (claims.length === 0) return;
        claimed.push(...claims.map(({ sessionId }) => sessionId));
        if (!(await write(claims, 'end'))) t.fail('a write was refused');
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, worker));
    t.equal(claimed.length, JOBS);
    t.equal(new Set(claimed).size, JOBS);
    const first = claimed.slice(0, JOBS / 5).filter((id) => callerOf.get(id) === 'c0').length;
    const share = first / (JOBS / 5);
    t.ok(share > 0.05 && share < 0.35, `the caller with most of the jobs had a share of ${share} of the first fifth`);
    t.equal((await kysely.selectFrom('cluster_claims').select('session_id').execute()).length, 0);
  });

  t.test(
    'A caller with a limit has no more sessions at once over all nodes, and others are served past it',
    async (t) => {
      const [{ start: one }, { start: other }] = [await join('a'), await join('b')];
      await queue(Array.from({ length: 6 }, (_, n) => ({ sessionId: `l${n}`, caller: 'limited' })));
      await queue(Array.from({ length: 4 }, (_, n) => ({ sessionId: `f${n}`, caller: 'free' })));
      const most = { maxRunning: (caller: string) => (caller === 'limited' ? 3 : undefined) };
      const claims = (await Promise.all([one, other, one, other].map((start) => store.claim(start, 4, most)))).flat();
      claims.push(...(await store.claim(one, 10, most)));
      const limited = claims.filter(({ sessionId }) => sessionId.startsWith('l'));
      t.equal(limited.length, 3);
      t.equal(claims.length - limited.length, 4);
      await write(limited.slice(0, 1), 'end');
      t.equal((await store.claim(other, 10, most)).length, 1, 'one has ended, so another may begin');
      const usage = new CallerUsage(kysely);
      t.same([await usage.running('limited'), await usage.queued('limited'), await usage.queued('free')], [3, 2, 0]);
    },
  );

  t.test('Starts per minute are counted for all nodes together', async (t) => {
    const usage = new CallerUsage(kysely);
    const waits = await Promise.all(Array.from({ length: 20 }, () => usage.takeStarts('paced', 5, 1)));
    t.equal(waits.filter((wait) => wait === null).length, 5);
    for (const wait of waits) t.ok(wait === null || (wait >= 1 && wait <= 12), `${wait} s until the next`);
    await sql`update cluster_rates set at = at - interval '1 minute'`.execute(kysely);
    t.equal(await usage.takeStarts('paced', 5, 1), null);
  });

  t.test('jobs that are queued while workers claim are all found', async (t) => {
    const { start } = await join('a');
    const claimed = new Set<string>();
    let submitting = true;
    const worker = async () => {
      while (claimed.size < 60) {
        const before = submitting;
        const claims = await store.claim(start, 2);
        for (const { sessionId } of claims) claimed.add(sessionId);
        if (claims.length === 0 && !before) return;
      }
    };
    const submitter = async (which: number) => {
      for (let n = 0; n < 20; n += 1) await queue([{ sessionId: `s${which}-${n}`, caller: `c${n % 2}` }]);
    };
    const submitted = Promise.all([0, 1, 2].map(submitter)).then(() => {
      submitting = false;
    });
    await Promise.all([submitted, ...Array.from({ length: 6 }, worker)]);
    t.equal(claimed.size, 60);
  });

  t.test('a write whose token is no longer the claim changes nothing', async (t) => {
    const [one, other] = [(await join('a')).start, (await join('b')).start];
    await queue([{ sessionId: 's1', caller: 'c' }]);
    const [claim] = await store.claim(one, 5);
    if (claim === undefined) throw new Error('nothing was claimed');
    t.same(await store.claim(other, 5), []);
    t.same(await store.takeOver(other, one, 10), [], 'not from a node that renews');
    await makeOld('a');
    t.same(await store.expired(), [{ id: 'a', startToken: one.startToken }]);
    const [taken] = await store.takeOver(other, one, 10);
    if (taken === undefined) throw new Error('nothing was taken over');
    t.not(taken.token, claim.token);
    t.notOk(await write([claim], 'end'));
    t.same(await store.renew(one), { kind: 'lost' });
    t.ok(await write([taken], 'requeue'));
    t.notOk(await write([taken], 'requeue'), 'queued again once');
    t.equal((await store.claim(other, 5)).length, 1);
  });

  t.test('a renewal that is faster than the sweep wins', async (t) => {
    const [one, other] = [(await join('a')).start, (await join('b')).start];
    await makeOld('a');
    const [victim] = await store.expired();
    if (victim === undefined) throw new Error('not expired');
    t.match(await store.renew(one), { kind: 'renewed' });
    t.same(await store.takeOver(other, victim, 10), []);
    t.match(await store.renew(one), { kind: 'renewed' });
  });

  t.test('a new start on the same home takes over; elsewhere it is refused while the first renews', async (t) => {
    const first = (await join('a')).start;
    await queue([{ sessionId: 's1', caller: 'c' }]);
    const [claim] = await store.claim(first, 1);
    t.same((await join('a', { home: 'elsewhere' })).answer, { kind: 'refused', reason: 'running-elsewhere' });
    t.same((await join('b', { keyFingerprint: 'other' })).answer, { kind: 'refused', reason: 'other-key' });
    const second = await join('a');
    t.match(second.answer, { kind: 'joined', inherited: [{ sessionId: 's1' }] });
    t.same(await store.renew(first), { kind: 'lost' });
    t.notOk(await write(claim === undefined ? [] : [claim]));
    const again = await store.register(second.start, second.start.startToken);
    t.same(again, second.answer, 'a registration that is repeated keeps its claims');
    t.same(
      await store.register(first, first.startToken),
      { kind: 'superseded' },
      'one that was delayed changes nothing',
    );
    await makeOld('a');
    t.match((await join('a', { home: 'elsewhere' })).answer, { kind: 'joined', inherited: [{ sessionId: 's1' }] });
  });

  t.test('a renewal names the claims whose answer was lost', async (t) => {
    const { start } = await join('a');
    await queue([{ sessionId: 's1', caller: 'c' }]);
    const claims = await store.claim(start, 1);
    t.same(await store.renew(start), { kind: 'renewed', draining: false, claims });
    const live = await store.create(start, 'live', 'c');
    t.ok(live !== null && (await write([live])));
    t.match(await store.nodes(), [{ id: 'a', state: 'up', running: 2, slots: 10 }]);
  });

  t.test('a node that is drained gets no claims, and leaves when it has none', async (t) => {
    const { start } = await join('a');
    await queue(['s1', 's2'].map((sessionId) => ({ sessionId, caller: 'c' })));
    const claims = await store.claim(start, 1);
    t.ok(await store.drain('a'));
    t.notOk(await store.drain('nobody'));
    t.same(await store.claim(start, 1), []);
    t.same(await store.renew(start), { kind: 'renewed', draining: true, claims });
    t.notOk(await store.leave(start));
    t.notOk(await store.remove('a'));
    t.ok(await write(claims, 'end'));
    t.ok(await store.leave(start));
    t.same(await store.nodes(), []);
  });

  t.test('only a lost node without claims can be removed', async (t) => {
    const [one, other] = [(await join('a')).start, (await join('b')).start];
    await queue([{ sessionId: 's1', caller: 'c' }]);
    await store.claim(one, 1);
    t.notOk(await store.remove('a'));
    await makeOld('a');
    t.notOk(await store.remove('a'), 'it has a claim');
    await store.takeOver(other, one, 10);
    t.ok(await store.remove('a'));
  });

  t.test('the database computes the scores of fair-share.ts', async (t) => {
    const { start } = await join('a');
    await queue([1, 2, 3].map((n) => ({ sessionId: `s${n}`, caller: 'c' })));
    let expected = Number.NEGATIVE_INFINITY;
    for (let n = 0; n < 3; n += 1) {
      await store.claim(start, 1);
      const { score, now } = await kysely
        .selectFrom('cluster_callers')
        .select(['score', sql<number>`(extract(epoch from clock_timestamp()) * 1000)::double precision`.as('now')])
        .executeTakeFirstOrThrow();
      expected = servedScore(expected, now);
      t.ok(Math.abs(score - expected) < 0.1, `${score} is about ${expected}`);
    }
  });
}
