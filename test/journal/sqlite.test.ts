import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'libsql';
import t from 'tap';
import { Journal } from '#troupe/journal/journal.js';
import { APPLICATION_ID, MIGRATIONS } from '#troupe/journal/migrations.js';
import type { SessionRecord } from '#troupe/protocol/session.js';
import { guardLeaks } from '../support/leaks.js';
import { idOf, session } from './stored-sessions.js';

guardLeaks(t);

t.test('A journal of a version that kept requests beside records is brought to this one', async (t) => {
  const file = join(t.testdir({}), 'troupe.db');
  const old = new Database(file);
  for (const migration of MIGRATIONS.slice(0, 6)) old.exec(migration.sqlite);
  old.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 6`);
  const insert = old.prepare(
    'INSERT INTO sessions (id, mode, status, created_at, record, request, lease, batch) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const add = (n: number, status: SessionRecord['status'], request: unknown, lease: unknown = null) => {
    const { record } = session(n, { status, state: status });
    const { id, mode, createdAt } = record;
    const json = (value: unknown) => (value === null ? null : JSON.stringify(value));
    insert.run([
      id,
      mode,
      status,
      createdAt,
      JSON.stringify(record),
      JSON.stringify(request),
      json(lease),
      'b00000000001',
    ]);
  };
  const sealed = { caller: 'ci', sealed: 'secret' };
  const lease = { driver: 'process', leaseId: idOf(2) };
  add(1, 'queued', sealed);
  add(2, 'running', sealed, lease);
  add(3, 'completed', null);
  add(4, 'failed', null);
  old.exec(`DELETE FROM sessions WHERE id = '${idOf(4)}'`);
  old.close();
  const journal = await Journal.open({ file });
  t.teardown(() => journal.close());
  t.same(await journal.waiting(), [{ id: idOf(1), batch: 'b00000000001', caller: 'ci' }]);
  t.match(await journal.running(), { sessions: [{ record: { id: idOf(2) }, lease }], damaged: [] });
  for (const n of [1, 2]) t.same(await journal.request(idOf(n)), { sessionId: idOf(n), caller: 'ci', request: sealed });
  t.equal(await journal.request(idOf(3)), null);
  await journal.write({ records: [session(5)] });
  t.same(
    (await journal.list({ limit: 10 })).map(({ record }) => record.id),
    [5, 3, 2, 1].map(idOf),
  );
  await journal.close();
  const numbers = new Database(file);
  t.match(numbers.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'sessions'").all([]), [{ seq: 5 }]);
  numbers.close();
});

t.test('A journal of the version before knows why its flows failed', async (t) => {
  const file = join(t.testdir({}), 'troupe.db');
  const old = new Database(file);
  for (const migration of MIGRATIONS.slice(0, -1)) old.exec(migration.sqlite);
  old.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length - 1}`);
  const at = '2026-01-02T03:00:00.000Z';
  const events: readonly (readonly [string, string])[] = [
    ['failed', JSON.stringify({ path: 'buy', error: { error: 'late', code: 'WAIT_TIMEOUT' } })],
    ['failed', 'damaged'],
    ['passed', JSON.stringify({ path: 'buy' })],
  ];
  for (const [index, [status, data]] of events.entries()) {
    const seq = index + 1;
    old.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?)').run([seq, idOf(seq), at, 'FlowFinished', data]);
    old.prepare('INSERT INTO flow_runs VALUES (?, ?, ?, ?, ?, ?)').run([seq, 'buy', idOf(seq), at, status, 5]);
  }
  old.prepare('INSERT INTO flow_runs VALUES (?, ?, ?, ?, ?, ?)').run([-1, 'buy', 'b1/1', at, 'failed', 5]);
  old.close();
  const journal = await Journal.open({ file });
  t.teardown(() => journal.close());
  const range = { since: at, until: '2026-01-03T00:00:00.000Z', limit: 10 };
  t.same(
    (await journal.flowRuns(range)).map(({ sessionId, code }) => [sessionId, code]),
    [
      [idOf(3), null],
      [idOf(2), null],
      [idOf(1), 'WAIT_TIMEOUT'],
      ['b1/1', null],
    ],
  );
});

t.test('A file that cannot be the journal is refused with the reason and the file name', async (t) => {
  const dir = t.testdir({ 'text.db': 'this is no database, it is a text that somebody wrote\n'.repeat(100) });
  const foreign = new Database(join(dir, 'foreign.db'));
  foreign.exec('CREATE TABLE theirs (a)');
  foreign.close();
  const newer = await Journal.open({ file: join(dir, 'newer.db') });
  await newer.close();
  const update = new Database(join(dir, 'newer.db'));
  update.exec('PRAGMA user_version = 999');
  update.close();
  const refusal = (name: string) => Journal.open({ file: join(dir, name) });

  await t.rejects(refusal('text.db'), { code: 'UNAVAILABLE', message: /text\.db is not a database/ });
  await t.rejects(refusal('foreign.db'), {
    code: 'UNAVAILABLE',
    message: /foreign\.db is the database of another program/,
  });
  await t.rejects(refusal('newer.db'), { code: 'UNAVAILABLE', message: /newer\.db was written by a newer Troupe/ });
  await t.rejects(refusal('no/such/folder.db'), { code: 'UNAVAILABLE', message: /folder\.db cannot be opened/ });
  await writeFile(join(dir, 'empty.db'), '');
  const empty = await refusal('empty.db');
  await empty.close();
});

t.test('A second opener is refused while the first runs, in another process and in this one', async (t) => {
  const file = join(t.testdir({}), 'troupe.db');
  const journal = await Journal.open({ file });
  t.teardown(() => journal.close());
  await journal.write({ records: [session(1)] });
  await t.rejects(Journal.open({ file }), { code: 'UNAVAILABLE', message: /in use by another running service/ });
  const opener = `
    import { Journal } from '#troupe/journal/journal.js';
    await Journal.open({ file: ${JSON.stringify(file)} }).then(() => console.log('opened'), (error) => console.log(error.message));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', opener], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) lines.push(line);
  t.match(lines.join('\n'), /in use by another running service/);
  await journal.write({ records: [session(2)] });
  await journal.close();
  const next = await Journal.open({ file });
  t.equal((await next.waiting()).length, 2);
  await next.close();
});

t.test('The schema fits on the first page of a file, so that no other damaged page takes it away', async (t) => {
  const file = join(t.testdir({}), 'troupe.db');
  await (await Journal.open({ file })).close();
  const database = new Database(file);
  t.equal(database.prepare("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'").all([]).length, 1);
  database.close();
});
