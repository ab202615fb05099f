import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { NodeDescription } from '#troupe/cluster/cluster-store.js';
import { leaseTimes } from '#troupe/cluster/lease-times.js';
import { PostgresClusterStore } from '#troupe/cluster/postgres-cluster-store.js';
import { Journal } from '#troupe/journal/journal.js';
import { MIGRATIONS } from '#troupe/journal/migrations.js';
import { connectPostgres } from '#troupe/journal/postgres/connect-postgres.js';
import type { Schema } from '#troupe/journal/schema.js';
import { guardLeaks } from '../support/leaks.js';
import { createDatabase, ownPostgres, postgresMissing, query } from '../support/test-store.js';
import { idOf, said, session, textsOf } from './stored-sessions.js';

guardLeaks(t);

const skip = await postgresMissing();

const EXPIRE = "UPDATE owner SET seen = seen - interval '31 s'";
const CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'troupe%'";
/** What a service that was killed leaves: nobody renews, and the row names its home. */
const LEAVE = "INSERT INTO owner SELECT name, token, home, host, now() + interval '1 hour' FROM kept_owner";
const KEEP = 'CREATE TABLE kept_owner AS SELECT * FROM owner';

/** Tries again if the owner renews its row between the two steps. */
async function takeOver(file: string, database: string): Promise<Journal> {
  for (;;) {
    await query(database, EXPIRE);
    const journal = await Journal.open({ file, database }).catch(() => null);
    if (journal !== null) return journal;
  }
}

t.test('A PostgreSQL database is for one service', { skip }, async (t) => {
  const server = await ownPostgres(t);
  const place = async (t: Test) => ({
    database: await createDatabase(server.url('postgres')),
    one: join(t.testdir({ one: {}, other: {} }), 'one', 'troupe.db'),
    other: join(t.testdirName, 'other', 'troupe.db'),
  });
  const open = async (t: Test, file: string, database: string): Promise<Journal> => {
    const journal = await Journal.open({ file, database });
    t.teardown(() => journal.close());
    return journal;
  };

  await t.test('a second one is refused, and may start once the first has stopped', async (t) => {
    const { database, one, other } = await place(t);
    const first = await open(t, one, database);
    await t.rejects(Journal.open({ file: other, database }), {
      code: 'UNAVAILABLE',
      message: /^The database localhost\/\w+ is in use by another running service on .+; stop that service, or give/,
    });
    await first.write({ records: [session(1)] });
    await first.close();
    const second = await open(t, other, database);
    t.equal((await second.list({ limit: 5 })).length, 1);
  });

  await t.test('of several that start at once, one succeeds', async (t) => {
    const database = await createDatabase(server.url('postgres'));
    const homes = t.testdir({ a: {}, b: {}, c: {}, d: {} });
    await (await Journal.open({ file: join(homes, 'a', 'troupe.db'), database })).close();
    const starts = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((home) => Journal.open({ file: join(homes, home, 'troupe.db'), database })),
    );
    const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    t.equal(started.length, 1);
    for (const journal of started) await journal.close();
  });

  await t.test('two of the same home are refused without the database', async (t) => {
    const { one } = await place(t);
    const databases = [await createDatabase(server.url('postgres')), await createDatabase(server.url('postgres'))];
    await open(t, one, databases[0] ?? '');
    await t.rejects(Journal.open({ file: one, database: databases[1] ?? '' }), {
      code: 'UNAVAILABLE',
      message: /^The lock .*troupe\.lock is in use by another running service/,
    });
  });

  await t.test('one that was killed is replaced at once from its own home', async (t) => {
    const { database, one, other } = await place(t);
    const killed = await open(t, one, database);
    await query(database, KEEP);
    await killed.close();
    await query(database, LEAVE);
    await t.rejects(Journal.open({ file: other, database }), { code: 'UNAVAILABLE', message: /in use by another/ });
    const again = await open(t, one, database);
    await again.write({ records: [session(1)] });
  });

  await t.test('one that was replaced while it was cut off writes nothing more, and reports it', async (t) => {
    const { database, one, other } = await place(t);
    const first = await open(t, one, database);
    await first.write({ records: [session(1)], events: [said(1, 'first')] });
    const second = await takeOver(other, database);
    t.teardown(() => second.close());
    await query(server.url('postgres'), CUT);
    const late = first.write({ records: [session(2)], events: [said(1, 'late')] });
    const message = /Another service has taken over the database/;
    await t.rejects(late, { code: 'UNAVAILABLE', message });
    t.match((await first.failed).message, message);
    await t.rejects(first.write({ records: [session(3)] }), { code: 'UNAVAILABLE' });
    t.equal(await second.write({ events: [said(1, 'second')] }), 2);
    t.same(textsOf(await second.events({ after: 0, limit: 9 })), ['first', 'second']);
    t.equal(await second.get(idOf(2)), null);
  });

  const node = (id: string): NodeDescription => ({
    id,
    startToken: randomUUID(),
    home: id,
    url: 'http://127.0.0.1:1',
    version: '1.0.0',
    schema: MIGRATIONS.length,
    slots: 10,
    keyFingerprint: 'key',
  });
  const nodesOf = (t: Test, database: string) => {
    const connection = connectPostgres<Schema>({ url: database, connections: 1, name: 'troupe nodes of a test' });
    t.teardown(() => connection.close());
    return new PostgresClusterStore(connection.kysely, leaseTimes(20));
  };

  await t.test('nodes take in what a service that was alone left, each session once', async (t) => {
    const { database, one, other } = await place(t);
    const alone = await open(t, one, database);
    const running = { status: 'running', state: 'running', startedAt: '2026-01-02T03:04:05.678Z' } as const;
    await alone.write({
      records: [session(1), session(2, running), session(3, { ...running, status: 'stopped', state: 'stopped' })],
      requests: [{ sessionId: idOf(1), caller: 'ci', request: {} }],
    });
    await t.rejects(Journal.open({ file: other, database, isShared: true }), {
      code: 'UNAVAILABLE',
      message: /in use by a service on .+ that has no "node" in its troupe.json/,
    });
    const nodes = nodesOf(t, database);
    t.match(await nodes.register(node('early'), null), { kind: 'refused', reason: 'not-shared' });
    await alone.close();
    await open(t, one, database).then((again) => again.close());
    const shared = await Journal.open({ file: other, database, isShared: true });
    t.teardown(() => shared.close());
    const [a, b] = [node('a'), node('b')];
    t.match(await nodes.register(a, null), { kind: 'joined', inherited: [{ sessionId: idOf(2) }] });
    t.match(await nodes.register(b, null), { kind: 'joined', inherited: [] });
    t.match(await nodes.claim(b, 5), [{ sessionId: idOf(1) }]);
    t.same(await nodes.claim(a, 5), []);
    t.equal((await query(database, "select caller from cluster_claims where node = 'b'")).rows[0]?.caller, 'ci');
  });

  await t.test('a service that was alone and frozen writes nothing once nodes share the database', async (t) => {
    const { database, one, other } = await place(t);
    const alone = await open(t, one, database);
    await alone.write({ records: [session(1)] });
    for (let isRefused = true; isRefused; ) {
      await query(database, EXPIRE);
      const shared = await Journal.open({ file: other, database, isShared: true }).catch(() => null);
      isRefused = shared === null;
      if (shared !== null) t.teardown(() => shared.close());
    }
    await t.rejects(alone.write({ records: [session(2)] }), { code: 'UNAVAILABLE', message: /has taken over/ });
  });

  await t.test('a node that was frozen has no claims once a service has the database for itself', async (t) => {
    const { database, one, other } = await place(t);
    const shared = await Journal.open({ file: other, database, isShared: true });
    t.teardown(() => shared.close());
    const nodes = nodesOf(t, database);
    const frozen = node('a');
    await nodes.register(frozen, null);
    const claim = await nodes.create(frozen, idOf(1), 'ci');
    t.ok(claim);
    await t.rejects(Journal.open({ file: one, database }), {
      code: 'UNAVAILABLE',
      message: /is shared by nodes, of which a/,
    });
    await query(database, "update cluster_nodes set seen = seen - interval '31 s'");
    await open(t, one, database);
    t.same(await nodes.renew(frozen), { kind: 'lost' });
    const rights = {
      node: frozen.id,
      startToken: frozen.startToken,
      held: [{ sessionId: idOf(1), token: claim?.token ?? '' }],
      created: [],
      queued: [],
      requeued: [],
      ended: [],
    };
    await t.rejects(shared.write({ events: [said(1, 'late')], rights }), { code: 'NODE_LOST' });
    t.match(await nodes.register(node('a'), frozen.startToken), { kind: 'refused', reason: 'not-shared' });
  });
});
