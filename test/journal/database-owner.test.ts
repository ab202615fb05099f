import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Journal } from '#troupe/journal/journal.js';
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
});
