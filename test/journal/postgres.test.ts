import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Journal } from '#troupe/journal/journal.js';
import { MIGRATIONS } from '#troupe/journal/migrations.js';
import { explainPostgresError } from '#troupe/journal/postgres/postgres-errors.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import type { PostgresServer } from '../support/postgres/server.mjs';
import { createDatabase, ownPostgres, postgresMissing, query } from '../support/test-store.js';
import { idOf, said, session, textsOf } from './stored-sessions.js';

guardLeaks(t);

const skip = await postgresMissing();

const KILLS = 4;

/** SQLSTATE codes of a server in trouble, and what the message then says. */
const FAULTS: readonly (readonly [code: string, says: RegExp])[] = [
  ['53100', /its disk is full/],
  ['53200', /no memory left/],
  ['57014', /took too long/],
  ['55P03', /did not give a lock/],
  ['58030', /reports an error of its system/],
  ['XX001', /internal error/],
  ['42501', /refused an operation/],
];

t.test('The journal in PostgreSQL', { skip }, async (t) => {
  const server = await ownPostgres(t);
  const open = async (t: Test, url: string): Promise<Journal> => {
    const journal = await Journal.open({ file: join(t.testdir({}), 'unused.db'), database: url });
    t.teardown(() => journal.close());
    return journal;
  };

  await t.test('finds again what it wrote, texts of every kind included', async (t) => {
    const url = await createDatabase(server.url('postgres'));
    const journal = await open(t, url);
    const labels = { 'a\0b': 'c\ud800', branch: 'main' };
    await journal.write({
      records: [session(1, { labels, prompt: 'zero \0 and \ud800' })],
      events: [said(1, '\0\ud800')],
    });
    await journal.close();
    const again = await open(t, url);
    t.equal(again.instance, journal.instance);
    t.equal((await again.get(idOf(1)))?.record.prompt, 'zero \0 and \ud800');
    t.equal((await again.list({ labels: [{ name: 'a\0b', value: null }], limit: 5 })).length, 1);
    t.same(textsOf(await again.events({ after: 0, limit: 10 })), ['\0\ud800']);
  });

  await t.test('lists batches by names and labels of every kind', async (t) => {
    const journal = await open(t, await createDatabase(server.url('postgres')));
    const batch = (n: number, data: object) =>
      ({
        kind: 'batch',
        id: `b${n}`,
        data: { createdAt: `2026-01-0${n}T00:00:00.000Z`, labels: {}, ...data },
      }) as const;
    await journal.write({
      keyValues: [
        batch(1, { name: 'zero \0 and \ud800', labels: { 'a\0b': 'c\ud800' } }),
        batch(2, { name: 'plain', labels: { branch: 'main' } }),
        batch(3, { name: null }),
      ],
      records: [session(1, { batch: 'b1', status: 'completed', state: 'completed', attempt: 2 })],
    });
    const ids = async (query: object) => (await journal.batchPage({ limit: 9, ...query })).map(({ id }) => id);
    t.same(await ids({}), ['b3', 'b2', 'b1']);
    t.same(await ids({ before: 'b3', limit: 1 }), ['b2']);
    t.same(await ids({ name: 'zero \0 and \ud800' }), ['b1']);
    t.same(await ids({ labels: [{ name: 'a\0b', value: 'c\ud800' }] }), ['b1']);
    t.same(await ids({ labels: [{ name: 'branch', value: null }] }), ['b2']);
    const [, , first] = await journal.batchPage({ limit: 9 });
    t.match(first, { counts: { completed: 1 }, flaky: 1, data: { name: 'zero \0 and \ud800' } });
    await journal.removeBatch('b1');
    t.same(await ids({}), ['b3', 'b2']);
  });

  await t.test(
    'reports a fault of the server with its remedy, writes nothing half, and recovers by itself',
    async (t) => {
      const url = await createDatabase(server.url('postgres'));
      const journal = await open(t, url);
      for (const [index, [code, says]] of FAULTS.entries()) {
        await query(url, raiseOnEvents(code));
        const write = journal.write({ records: [session(index)], events: [said(index, code)] });
        await t.rejects(write, { code: 'UNAVAILABLE', message: says, details: { cause: code } });
        t.equal(journal.writeFault()?.details?.cause, code);
        await query(url, 'DROP TRIGGER fault ON events');
        t.equal(await journal.get(idOf(index)), null);
        t.equal(await journal.write({ records: [session(index)], events: [said(index, code)] }), index + 1);
        t.equal(journal.writeFault(), null);
      }
    },
  );

  await t.test('neither loses nor doubles an event while its connections are cut', async (t) => {
    const url = await createDatabase(server.url('postgres'));
    const journal = await open(t, url);
    const firsts: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const writes = Array.from({ length: 10 }, (_, n) => journal.write({ events: [said(1, `${round}.${n}`)] }));
      await query(url, CUT);
      firsts.push(...(await Promise.all(writes)));
    }
    const events = await journal.events({ after: 0, limit: 1000 });
    t.same(
      events.map(({ seq }) => seq),
      firsts,
    );
    t.same(
      textsOf(events),
      firsts.map((_, n) => `${Math.floor(n / 10)}.${n % 10}`),
    );
  });

  await t.test('refuses writes of a database that has become read-only, and writes again when it may', async (t) => {
    const url = await createDatabase(server.url('postgres'));
    const journal = await open(t, url);
    const database = new URL(url).pathname.slice(1);
    const admin = server.url('postgres');
    await query(admin, `ALTER DATABASE ${database} SET default_transaction_read_only = on`);
    await query(admin, CUT);
    await t.rejects(journal.write({ records: [session(1)] }), { code: 'UNAVAILABLE', message: /read-only/ });
    t.same(await journal.list({ limit: 5 }), []);
    await query(admin, `ALTER DATABASE ${database} RESET ALL`);
    await query(admin, CUT);
    await journal.write({ records: [session(1)] });
    t.equal((await journal.list({ limit: 5 })).length, 1);
  });

  await t.test('writes after an outage although connections of the pool were cut', async (t) => {
    const url = await createDatabase(server.url('postgres'));
    const journal = await open(t, url);
    for (const cuts of [1, 2, 4]) {
      await query(url, raiseOnEvents('53100'));
      await t.rejects(journal.write({ events: [said(1, 'full')] }), { code: 'UNAVAILABLE' });
      await query(url, 'DROP TRIGGER fault ON events');
      await query(url, cutsItself(cuts));
      await t.resolves(journal.write({ events: [said(1, `after ${cuts}`)] }), `${cuts} dead connections`);
      await query(url, 'DROP TRIGGER cut ON events; DROP SEQUENCE cuts');
    }
    t.same(textsOf(await journal.events({ after: 0, limit: 9 })), ['after 1', 'after 2', 'after 4']);
  });

  await t.test('refuses a database that it cannot use, with the reason and without the password', (t) =>
    refusals(t, server),
  );

  await t.test('survives a restart of the server', async (t) => {
    const url = await createDatabase(server.url('postgres'));
    const journal = await open(t, url);
    await journal.write({ events: [said(1, 'before')] });
    await server.stop();
    // Tried again for some seconds: a busy machine may take longer to restart the server.
    const during = journal.write({ events: [said(1, 'during')] }).catch((error: unknown) => error);
    await server.start();
    const outcome = await during;
    if (typeof outcome !== 'number') t.match(outcome, { code: 'UNAVAILABLE' });
    await server.stop('SIGKILL');
    await t.rejects(journal.write({ events: [said(1, 'away')] }), {
      code: 'UNAVAILABLE',
      message: /cannot be reached/,
    });
    await t.rejects(journal.list({ limit: 1 }), { code: 'UNAVAILABLE' });
    await server.start();
    await journal.write({ events: [said(1, 'after')] });
    const texts = textsOf(await journal.events({ after: 0, limit: 9 }));
    t.same(
      texts.filter((text) => text !== 'during'),
      ['before', 'after'],
    );
    if (typeof outcome === 'number') t.equal(texts[1], 'during');
  });

  await t.test('keeps what may wait while the server is away, and writes it once and in order', async (t) => {
    const url = await createDatabase(server.url('postgres'));
    const journal = await open(t, url);
    await journal.write({ events: [said(1, 'before')] });
    await server.stop('SIGKILL');
    let settled = 0;
    const keep = (n: number) => {
      const write = journal.write({ events: [said(1, `kept ${n}`)], isKept: true });
      return write.finally(() => {
        settled += 1;
      });
    };
    const writes = [keep(0), keep(1)];
    const read = journal.events({ sessionId: idOf(1), after: 0, limit: 100, isKept: true });
    await t.rejects(journal.write({ events: [said(1, 'not kept')] }), { code: 'UNAVAILABLE' });
    for (let n = 2; n < 5; n += 1) {
      writes.push(keep(n));
      await t.rejects(journal.list({ limit: 1 }), { code: 'UNAVAILABLE' }, 'nothing else waits');
    }
    t.equal(settled, 0);
    t.match(journal.writeFault(), { code: 'UNAVAILABLE' }, 'the fault is known all the while');
    await server.start();
    t.same(await Promise.all(writes), [2, 3, 4, 5, 6]);
    t.equal(journal.writeFault(), null);
    const texts = ['before', ...[0, 1, 2, 3, 4].map((n) => `kept ${n}`)];
    t.same(textsOf(await journal.events({ after: 0, limit: 100 })), texts);
    t.equal(textsOf(await read)[0], 'before', 'a read that may wait did');
  });

  await t.test('has what it reported as written, once, when the server is killed at any moment', async (t) => {
    const url = await createDatabase(server.url('postgres'));
    const journal = await open(t, url);
    const written: string[] = [];
    for (let round = 0; round < KILLS; round += 1) {
      let isOver = false;
      const writer = async (which: number) => {
        for (let n = 0; !isOver; n += 1) {
          const text = `${round} ${which} ${n}`;
          const isKept = which === 3;
          const write = journal.write({ events: [said(which, text)], isKept });
          const outcome = await write.catch((error: unknown) => error);
          if (typeof outcome === 'number') written.push(text);
          else t.match([isKept, outcome], [false, { code: 'UNAVAILABLE' }], 'what may wait does');
        }
      };
      const writers = [1, 2, 3].map(writer);
      const before = written.length;
      try {
        await eventually('something is written', () => written.length > before + 5 * round);
        await server.stop('SIGKILL');
        await server.start();
        // A transaction that was lost with the server leaves its number to another one.
        for (let n = 0; n < 20; n += 1) await query(url, 'SELECT pg_current_xact_id()');
      } finally {
        isOver = true;
      }
      await Promise.all(writers);
    }
    const found = textsOf(await journal.events({ after: 0, limit: 10_000 }));
    t.equal(new Set(found).size, found.length, 'nothing is there twice');
    t.same(
      written.filter((text) => !found.includes(text)),
      [],
      'nothing is lost',
    );
  });
});

t.test('An error names the database without user and password', async (t) => {
  const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
  const { message } = explainPostgresError('postgres://me:secret@db.example:5432/troupe', cause);
  t.match(message, /^The database db\.example:5432\/troupe cannot be reached; check/);
  t.notMatch(message, /secret|me:/);
});

const CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'troupe journal'";

/** Ends the connection of the first writers. A sequence counts also what is rolled back. */
function cutsItself(count: number): string {
  return `CREATE SEQUENCE cuts;
    CREATE OR REPLACE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF nextval('cuts') <= ${count} THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NEW; END $$;
    CREATE TRIGGER cut BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION cut()`;
}

function raiseOnEvents(code: string): string {
  return `CREATE OR REPLACE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'a fault' USING ERRCODE = '${code}'; END $$;
    CREATE TRIGGER fault BEFORE INSERT ON events EXECUTE FUNCTION fault()`;
}

async function refusals(t: Test, server: PostgresServer): Promise<void> {
  t.testdir({});
  const admin = server.url('postgres');
  const refused = (url: string, message: RegExp) =>
    t.rejects(Journal.open({ file: join(t.testdirName, 'unused.db'), database: url }), {
      code: 'UNAVAILABLE',
      message,
    });
  await refused(server.url('nowhere'), /database localhost\/nowhere does not exist/);
  const foreign = await createDatabase(admin);
  await query(foreign, 'CREATE TABLE theirs (a int)');
  await refused(foreign, /has tables of another program/);
  const newer = await createDatabase(admin);
  await (await Journal.open({ file: join(t.testdirName, 'unused.db'), database: newer })).close();
  const setVersion = (version: number) => query(newer, `UPDATE meta SET value = '${version}' WHERE key = 'schema'`);
  await setVersion(MIGRATIONS.length + 1);
  await (await Journal.open({ file: join(t.testdirName, 'unused.db'), database: newer })).close();
  await setVersion(MIGRATIONS.length + 2);
  await refused(newer, /written by a newer Troupe/);
  await query(admin, "CREATE ROLE few LOGIN PASSWORD 'secret' CONNECTION LIMIT 0");
  const few = new URL(newer);
  few.username = 'few';
  few.password = 'secret';
  await refused(few.href, /has too many connections/);
}
