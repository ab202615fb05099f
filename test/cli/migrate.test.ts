import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import t, { type Test } from 'tap';
import { RequestVault } from '#troupe/auth/request-vault.js';
import { Journal } from '#troupe/journal/journal.js';
import { APPLICATION_ID, MIGRATIONS } from '#troupe/journal/migrations.js';
import { idOf, said, session, textsOf } from '../journal/stored-sessions.js';
import { guardLeaks } from '../support/leaks.js';
import { runTroupe } from '../support/service-process.js';
import { createDatabase, ownPostgres, postgresMissing, query } from '../support/test-store.js';

guardLeaks(t);

const skip = await postgresMissing();
const CLUSTER_KEY = 'a key that all nodes of this cluster have';
const EVENTS = 250;
/** The schema of the version before PostgreSQL was supported. */
const VERSION_BEFORE = 7;

function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'troupe-migrate-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A home as the version before left it: a queued job, an ended one, events, a webhook message, a key of a submission. */
async function leaveHome(t: Test): Promise<string> {
  const home = folder(t);
  const vault = await RequestVault.open(join(home, 'troupe.key'));
  const database = new Database(join(home, 'troupe.db'));
  for (const { sqlite } of MIGRATIONS.slice(0, VERSION_BEFORE)) database.exec(sqlite);
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${VERSION_BEFORE}`);
  database.exec("UPDATE meta SET value = '0123456789abcdef' WHERE key = 'instance'");
  const put = (table: string, columns: string, ...values: unknown[]) =>
    database.prepare(`INSERT INTO ${table} (${columns}) VALUES (${values.map(() => '?').join(', ')})`).run(values);
  for (const [n, status] of [
    [1, 'queued'],
    [2, 'completed'],
  ] as const) {
    const endedAt = status === 'completed' ? '2026-01-02T04:00:00.000Z' : null;
    const batch = status === 'completed' ? 'b1' : null;
    const { record } = session(n, { status, state: status, endedAt, batch, attempt: 2 });
    put(
      'sessions',
      'id, mode, status, created_at, batch, lease, record',
      record.id,
      record.mode,
      status,
      record.createdAt,
      batch,
      null,
      JSON.stringify(record),
    );
  }
  const sealed = vault.seal({ prompt: 'log in', secrets: { password: 'hunter2' } }, 'ci');
  put('requests', 'session_id, caller, request', idOf(1), 'ci', JSON.stringify(sealed));
  const target = vault.seal('https://hooks.example/1?token=abc', '');
  put('kept', 'kind, id, data', 'delivery', `${idOf(2)}/1`, JSON.stringify({ attempts: 3, target }));
  const nightly = { createdAt: '2026-01-02T03:00:00.000Z', name: 'nightly', labels: { branch: 'main' } };
  put('kept', 'kind, id, data', 'batch', 'b1', JSON.stringify(nightly));
  put('kept', 'kind, id, data', 'token', 'ci', JSON.stringify({ name: 'ci', hash: 'x' }));
  put('submissions', 'key, session_id, fingerprint', 'build-17', idOf(1), 'f');
  for (let n = 1; n <= EVENTS; n += 1) put('events', 'session_id, at, type, data', ...said(2, `event ${n}`));
  database.exec(`DELETE FROM events WHERE seq = ${EVENTS}`);
  database.close();
  return home;
}

t.test('troupe migrate brings a home of the version before to PostgreSQL', { skip }, async (t) => {
  const server = await ownPostgres(t);
  const url = await createDatabase(server.url('postgres'));
  Object.assign(process.env, { MIGRATE_DATABASE: url, MIGRATE_KEY: CLUSTER_KEY });
  const left = await leaveHome(t);
  const home = folder(t);
  writeFileSync(join(home, 'troupe.json'), '{"database": "MIGRATE_DATABASE", "clusterKey": "MIGRATE_KEY"}');
  const from = join(left, 'troupe.db');

  await t.test('not at all if a part of it cannot be copied', async (t) => {
    const prepared = await Journal.open({ file: join(home, 'troupe.db'), database: url });
    await prepared.close();
    await query(url, 'ALTER TABLE kept ADD CONSTRAINT no_tokens CHECK (kind <> $$token$$)');
    const { code, output } = await runTroupe(home, 'migrate', '--from', from);
    t.equal(code, 1);
    t.match(output, /no_tokens/);
    t.match((await query(url, 'SELECT count(*)::int AS n FROM sessions')).rows, [{ n: 0 }]);
    await query(url, 'ALTER TABLE kept DROP CONSTRAINT no_tokens');
  });

  await t.test('with everything that the journal keeps, sealed with the key of the cluster', async (t) => {
    const { code, output } = await runTroupe(home, 'migrate', '--from', from);
    t.equal(code, 0, output);
    t.match(output, new RegExp(`events +${EVENTS - 1}\\n`));
    const journal = await Journal.open({ file: join(home, 'troupe.db'), database: url });
    t.teardown(() => journal.close());
    const busy = await runTroupe(home, 'migrate', '--from', from);
    t.equal(busy.code, 1);
    t.match(busy.output, /is in use by another running service/);
    t.equal(journal.instance, '0123456789abcdef');
    t.same(await journal.waiting(), [{ id: idOf(1), batch: null, caller: 'ci', hosts: '' }]);
    t.same(
      (await journal.list({ limit: 9, labels: [{ name: 'branch', value: 'main' }] })).map(({ record }) => record.id),
      [idOf(2), idOf(1)],
    );
    t.equal((await journal.endedBefore('2026-01-03T00:00:00.000Z', 9)).length, 1);
    const events = await journal.events({ after: 0, limit: 1000 });
    t.same(
      textsOf(events),
      Array.from({ length: EVENTS - 1 }, (_, n) => `event ${n + 1}`),
    );
    t.match(await journal.submission('build-17'), { sessionId: idOf(1), fingerprint: 'f' });

    const vault = await RequestVault.open('', CLUSTER_KEY);
    t.match(vault.unseal((await journal.request(idOf(1)))?.request), {
      caller: 'ci',
      request: { secrets: { password: 'hunter2' } },
    });
    const [delivery] = await journal.keyValues('delivery');
    t.equal(vault.unseal(Object(delivery?.data).target)?.request, 'https://hooks.example/1?token=abc');

    t.equal(await journal.write({ records: [session(3)], events: [said(3, 'next')] }), EVENTS + 1);
    t.same(
      (await journal.waiting()).map(({ id }) => id),
      [idOf(1), idOf(3)],
    );
    t.match(await journal.batchPage({ limit: 9, name: 'nightly', labels: [{ name: 'branch', value: 'main' }] }), [
      { id: 'b1', counts: { completed: 1 }, flaky: 1 },
    ]);
    await journal.close();
  });

  await t.test('not over rows that are there, and not without a journal or its key', async (t) => {
    const again = await runTroupe(home, 'migrate', '--from', from);
    t.equal(again.code, 1);
    t.match(again.output, /is not empty: its table sessions has rows/);
    const missing = await runTroupe(home, 'migrate', '--from', join(home, 'none.db'));
    t.equal(missing.code, 1);
    t.match(missing.output, /none\.db does not exist/);
    const alone = join(home, 'alone');
    mkdirSync(alone);
    const unset = await runTroupe(alone, 'migrate', '--from', from);
    t.equal(unset.code, 2);
    t.match(unset.output, /set "database"/);
  });
});
