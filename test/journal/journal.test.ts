import { spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setEnvironmentData, Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { Journal } from '#troupe/journal/journal.js';
import { guardLeaks } from '../support/leaks.js';
import { journalPlace, usesPostgres } from '../support/test-store.js';
import { idOf, said, session, textsOf } from './stored-sessions.js';

guardLeaks(t);

/** A journal in a fresh folder, and its file. */
async function fresh(test: Test): Promise<{ file: string; journal: Journal }> {
  const file = join(test.testdir({}), 'troupe.db');
  const journal = await Journal.open(await journalPlace(test, file));
  test.teardown(() => journal.close());
  return { file, journal };
}

t.test('Journal finds again what it wrote, after a restart', async (t) => {
  const { file, journal } = await fresh(t);
  const lease = { driver: 'process', leaseId: 'l1', pid: 7 };
  await journal.write({ records: [{ ...session(1), lease }], events: [said(1, 'one')] });
  await journal.write({ records: [session(1, { status: 'completed', state: 'completed', summary: 'done' })] });
  await journal.write({ records: [session(2)] });
  const { instance } = journal;
  await journal.close();

  const again = await Journal.open(await journalPlace(t, file));
  t.teardown(() => again.close());
  t.equal(again.instance, instance);
  t.match(instance, /^[0-9a-f]{16}$/);
  const stored = await again.get(idOf(1));
  t.same(stored?.record, {
    ...session(1).record,
    status: 'completed',
    state: 'completed',
    summary: 'done',
    queuePosition: null,
  });
  t.equal(stored?.lease, null);
  t.equal(await again.get(idOf(99)), null);
  t.same(await again.waiting(), [{ id: idOf(2), batch: null, caller: '' }]);
  t.same(textsOf(await again.events({ after: 0, limit: 10 })), ['one']);
});

t.test('A write that has settled is on disk when the process is killed at that moment', async (t) => {
  const file = join(t.testdir({}), 'troupe.db');
  const place = await journalPlace(t, file);
  const writer = `
    import { Journal } from '#troupe/journal/journal.js';
    const journal = await Journal.open(${JSON.stringify(place)});
    for (let n = 1; ; n++) {
      const data = JSON.stringify({ level: 'log', text: String(n) });
      const seq = await journal.write({ events: [['s00000000001', new Date().toISOString(), 'ConsoleWritten', data]] });
      process.stdout.write(seq + '\\n');
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', writer], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  let acknowledged = 0;
  for await (const line of createInterface(child.stdout)) {
    acknowledged = Number(line);
    if (acknowledged === 200) child.kill('SIGKILL');
  }
  await exit;

  const journal = await Journal.open(await journalPlace(t, file));
  t.teardown(() => journal.close());
  const events = await journal.events({ after: 0, limit: 10_000 });
  t.ok(acknowledged >= 200);
  t.ok(events.length >= acknowledged, `${events.length} events for ${acknowledged} acknowledged`);
  t.same(
    textsOf(events),
    events.map(({ seq }) => String(seq)),
  );
});

t.test('An event number is never given twice, not after removal and restart either', async (t) => {
  const { file, journal } = await fresh(t);
  await journal.write({ records: [session(1)], events: [said(1, 'a'), said(1, 'b')] });
  await journal.remove(idOf(1));
  await journal.remove(idOf(1));
  t.equal(await journal.get(idOf(1)), null);
  t.same(await journal.events({ after: 0, limit: 10 }), []);
  t.equal(journal.lastSeq(), 2);
  await journal.close();

  const again = await Journal.open(await journalPlace(t, file));
  t.teardown(() => again.close());
  t.equal(again.lastSeq(), 2);
  t.equal(await again.write({ events: [said(2, 'c')] }), 3);
  t.equal(again.lastSeq(), 3);
});

t.test('Writes made at once are numbered in the order of the calls', async (t) => {
  const { journal } = await fresh(t);
  const writes = Array.from({ length: 500 }, (_, n) =>
    journal.write({ records: [session(n)], events: Array.from({ length: n % 4 }, (_, k) => said(n, `${n}.${k}`)) }),
  );
  const firsts = await Promise.all(writes);
  const counts = firsts.map((_, n) => n % 4);
  const before = (n: number) => counts.slice(0, n).reduce((sum, count) => sum + count, 0);
  t.same(
    firsts,
    counts.map((count, n) => (count === 0 ? 0 : before(n) + 1)),
  );
  const stored = await journal.events({ after: 0, limit: 10_000 });
  t.same(
    textsOf(stored),
    counts.flatMap((count, n) => Array.from({ length: count }, (_, k) => `${n}.${k}`)),
  );
  t.same(
    (await journal.waiting()).map(({ id }) => id),
    writes.map((_, n) => idOf(n)),
  );
  t.same(textsOf(await journal.events({ sessionId: idOf(7), after: 0, limit: 10 })), ['7.0', '7.1', '7.2']);
  t.same(textsOf(await journal.events({ sessionId: idOf(7), after: 0, limit: 2 })), ['7.0', '7.1']);
});

t.test('A write that cannot be made refuses itself and none that shares its transaction', async (t) => {
  const { journal } = await fresh(t);
  const broken = session(2);
  Reflect.set(broken.record, 'mode', null);
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const results = await Promise.allSettled([
    journal.write({ records: [session(1)], events: [said(1, 'before')] }),
    journal.write({ records: [broken], events: [said(2, 'never')] }),
    journal.write({
      records: [session(3)],
      requests: [{ sessionId: idOf(3), caller: 'a', request: cyclic }],
      events: [said(3, 'never')],
    }),
    journal.write({ records: [session(4)], events: [said(4, 'after')] }),
  ]);
  t.same(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
  );
  t.same(textsOf(await journal.events({ after: 0, limit: 10 })), ['before', 'after']);
  t.equal(await journal.get(idOf(2)), null);
});

t.test('A request is on disk until its session has ended, apart from what is listed', async (t) => {
  const { journal } = await fresh(t);
  const asked = (n: number) => ({ sessionId: idOf(n), caller: `caller ${n}`, request: { sealed: 'x'.repeat(n) } });
  const batch = { batch: 'b00000000001' };
  await journal.write({ records: [session(1), session(2, batch)], requests: [asked(1), asked(2)] });
  await journal.write({ records: [session(3, { status: 'running', state: 'running' })], requests: [asked(3)] });
  t.same(await journal.waiting(), [
    { id: idOf(1), batch: null, caller: 'caller 1' },
    { id: idOf(2), ...batch, caller: 'caller 2' },
  ]);
  t.same(
    (await journal.running()).sessions.map(({ record }) => record.id),
    [idOf(3)],
  );
  await journal.write({ records: [session(3)] });
  t.same(await journal.request(idOf(3)), asked(3), 'another write of its record leaves it as it is');
  await journal.write({ records: [session(3, { status: 'failed', state: 'failed' })] });
  t.equal(await journal.request(idOf(3)), null);
  await journal.remove(idOf(1));
  t.equal(await journal.request(idOf(1)), null);
  t.equal((await journal.waiting()).length, 1);
});

t.test('Pages of sessions are newest first and neither repeat nor skip while sessions come', async (t) => {
  const { journal } = await fresh(t);
  const records = Array.from({ length: 25 }, (_, n) =>
    session(n, n % 5 === 0 ? { mode: 'live', status: 'running', state: 'running' } : {}),
  );
  await journal.write({ records });
  await journal.write({ records: [session(30, { createdAt: '2025-12-31T00:00:00.000Z' })] });
  const seen: string[] = [];
  let page = await journal.list({ limit: 10 });
  while (page.length > 0) {
    seen.push(...page.map(({ record }) => record.id));
    await journal.write({ records: [session(100 + seen.length, { createdAt: '2026-02-01T00:00:00.000Z' })] });
    const before = page.at(-1)?.record.id;
    page = await journal.list({ limit: 10, ...(before === undefined ? {} : { before }) });
  }
  t.same(seen, [...records.map(({ record }) => record.id).reverse(), idOf(30)]);
  t.same(
    (await journal.list({ state: 'running', mode: 'live', limit: 2 })).map(({ record }) => record.id),
    [idOf(20), idOf(15)],
  );
  t.same(await journal.list({ state: 'failed', limit: 5 }), []);
  await t.rejects(journal.list({ limit: 5, before: idOf(999) }), {
    code: 'INVALID_REQUEST',
    details: { issues: [{ path: 'before' }] },
  });
});

t.test('Sessions are found by their labels, of which all that are asked for must hold', async (t) => {
  const { journal } = await fresh(t);
  const labels = [{ branch: 'main', os: 'linux' }, { branch: 'main', os: 'a "quoted" = name' }, { 'the team': '' }, {}];
  await journal.write({ records: labels.map((given, n) => session(n, { labels: given })) });
  const found = async (...asked: { name: string; value: string | null }[]) =>
    (await journal.list({ labels: asked, limit: 10 })).map(({ record }) => record.id);
  t.same(await found({ name: 'branch', value: 'main' }), [idOf(1), idOf(0)]);
  t.same(await found({ name: 'branch', value: 'main' }, { name: 'os', value: 'a "quoted" = name' }), [idOf(1)]);
  t.same(await found({ name: 'the team', value: null }), [idOf(2)]);
  t.same(await found({ name: 'os', value: '%' }), []);
});

t.test('Sessions are counted by status, and those apart that failed from an instant on', async (t) => {
  const { journal } = await fresh(t);
  const failed = (endedAt: string) => ({ status: 'failed', state: 'failed', endedAt }) as const;
  const records = [
    session(1),
    session(2, failed('2026-01-02T23:59:59.999Z')),
    session(3, failed('2026-01-03T00:00:00.000Z')),
    session(4, { ...failed('2026-01-03T00:00:00.000Z'), status: 'stopped' }),
  ];
  await journal.write({ records });
  t.match(await journal.statusCounts('2026-01-03T00:00:00.000Z'), {
    counts: { queued: 1, failed: 2, stopped: 1 },
    failed: 1,
  });
});

t.test('A key of a submission is kept with its session, and is free once that is removed', async (t) => {
  const { journal } = await fresh(t);
  const submission = { key: 'build-17', sessionId: idOf(1), fingerprint: 'f' };
  await journal.write({ records: [session(1)], submissions: [submission] });
  t.same(await journal.submission('build-17'), submission);
  t.equal(await journal.submission('build-18'), null);
  await t.rejects(journal.write({ records: [session(2)], submissions: [{ ...submission, sessionId: idOf(2) }] }));
  t.equal(await journal.get(idOf(2)), null, 'nothing of it is written');
  await journal.remove(idOf(1));
  t.equal(await journal.submission('build-17'), null);
});

t.test('Pages of events are whole however large the events are', async (t) => {
  const { journal } = await fresh(t);
  const large = 'x'.repeat(1024 * 1024);
  await journal.write({ events: Array.from({ length: 12 }, (_, n) => said(1, `${n}${large}`)) });
  const events = await journal.events({ after: 0, limit: 12 });
  t.same(
    events.map(({ seq }) => seq),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
  );
  t.same(
    (await journal.events({ sessionId: idOf(1), after: 9, limit: 12 })).map(({ seq }) => seq),
    [10, 11, 12],
  );
});

t.test('Closing puts on disk what was accepted and is idempotent', async (t) => {
  const { file, journal } = await fresh(t);
  const writes = Array.from({ length: 200 }, (_, n) => journal.write({ events: [said(1, String(n))] }));
  await Promise.all([journal.close(), journal.close()]);
  t.equal((await Promise.all(writes)).length, 200);
  await t.rejects(journal.get(idOf(1)), { code: 'UNAVAILABLE' });
  await t.rejects(journal.write({ events: [said(1, 'late')] }), { code: 'UNAVAILABLE' });
  await journal.close();
  const again = await Journal.open(await journalPlace(t, file));
  t.teardown(() => again.close());
  t.equal((await again.events({ after: 0, limit: 1000 })).length, 200);
});

t.test('What waits for the disk is bounded: a write beyond it is refused, the others are kept', async (t) => {
  const { journal } = await fresh(t);
  const many = Array.from({ length: 60_000 }, () => said(1, 'x'));
  const first = journal.write({ events: many });
  await t.rejects(journal.write({ events: many }), { code: 'UNAVAILABLE', message: /does not keep up/ });
  t.equal(await first, 1);
  t.equal(await journal.write({ events: [said(1, 'again')] }), 60_001);
});

/** What a new journal does with its threads, in the order of their starts. */
async function watched(t: Test): Promise<{ file: string; journal: Journal; threads: Worker[] }> {
  const threads: Worker[] = [];
  const onWorker = (message: unknown) => {
    const worker: unknown = typeof message === 'object' && message !== null ? Reflect.get(message, 'worker') : null;
    if (worker instanceof Worker) threads.push(worker);
  };
  subscribe('worker_threads', onWorker);
  t.teardown(() => unsubscribe('worker_threads', onWorker));
  return { ...(await fresh(t)), threads };
}

async function losesAll(t: Test): Promise<void> {
  const { journal, threads } = await watched(t);
  const waiting = journal.write({ events: Array.from({ length: 50_000 }, () => said(1, 'lost')) });
  await Promise.all([
    t.rejects(waiting, { code: 'UNAVAILABLE', message: /thread/ }),
    journal.failed.then((reason) => t.match(reason.message, /thread exited/)),
    threads[0]?.terminate(),
  ]);
  await t.rejects(journal.list({ limit: 1 }), { code: 'UNAVAILABLE' });
}

async function losesNothing(t: Test): Promise<void> {
  const file = join(t.testdir({}), 'troupe.db');
  const words = ['BEGIN', 'INSERT', 'COMMIT', 'SELECT'];
  const at = new Int32Array(new SharedArrayBuffer(4)).fill(-1);
  setEnvironmentData('troupe-test-journal-end', { words, at });
  t.teardown(() => setEnvironmentData('troupe-test-journal-end', undefined));
  const lines: string[] = [];
  const journal = await Journal.open({
    ...(await journalPlace(t, file)),
    entry: new URL('./ending-journal.mjs', import.meta.url),
    log: (line) => lines.push(line),
  });
  t.teardown(() => journal.close());
  await journal.write({ records: [session(1)], events: [said(1, 'first')] });
  // Nothing is written, something is, all is without a reply; or a question is without its answer.
  for (const [round, end] of words.entries()) {
    const before = journal.lastSeq();
    const many = Array.from({ length: 2_000 }, (_, index) => said(1, `${round} many ${index}`));
    Atomics.store(at, 0, round);
    const writes = [many, [said(1, `${round} two`)], [said(1, `${round} three`), said(1, `${round} four`)]].map(
      (events) => journal.write({ events }),
    );
    const read = journal.list({ limit: 1 });
    t.same(await Promise.all(writes), [before + 1, before + 2_001, before + 2_002], end);
    t.equal((await read).length, 1, end);
    t.equal(journal.writeFault(), null, end);
    const texts = textsOf(await journal.events({ after: before, limit: 10_000 }));
    t.equal(texts.length, 2_003, end);
    t.same(texts.slice(-4), [`${round} many 1999`, `${round} two`, `${round} three`, `${round} four`], end);
    t.equal(lines.filter((line) => line === 'The journal is open again').length, round + 1, end);
  }
}

if (usesPostgres) t.test('When its thread dies beside a database server, all calls are rejected', losesAll);
else t.test('When its thread dies, another one goes on: all is written once, in order', losesNothing);
