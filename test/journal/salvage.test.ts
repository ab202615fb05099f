import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { Journal, type StoredSession } from '#troupe/journal/journal.js';
import { eventRow } from '#troupe/protocol/event-row.js';
import { SessionId, SessionRecord } from '#troupe/protocol/session.js';
import { guardLeaks } from '../support/leaks.js';
import { hasAllCases } from '../support/sampled.js';

guardLeaks(t);

const PAGE = 4096;
const SESSIONS = 60;
const EVENTS = 1_000;
const AT = '2026-01-02T03:04:05.678Z';
const idOf = (n: number) => SessionId.parse(`s${String(n).padStart(11, '0')}`);

function session(n: number): StoredSession {
  const id = idOf(n);
  const links = { self: '', proxy: '', prompt: '', download: '', events: '', view: '' };
  const record = SessionRecord.parse({
    ...{
      id,
      sessionId: id,
      mode: 'auto',
      name: null,
      labels: {},
      batch: null,
      status: 'completed',
      state: 'completed',
    },
    ...{ prompt: 'x'.repeat(300), flowFiles: [], model: null, maxIterations: 0, iterations: 0, attempt: 1 },
    ...{ queuePosition: null, createdAt: AT, startedAt: AT, endedAt: AT, lastActivityAt: AT, endReason: null },
    ...{ summary: null, error: null, tokens: { input: 0, cached: 0, output: 0 }, driver: null, links },
  });
  return { record, lease: null };
}

const said = (seq: number) =>
  eventRow(
    idOf(seq % SESSIONS),
    { type: 'ConsoleWritten', data: { level: 'log', text: `${seq} ${'y'.repeat(200)}` } },
    AT,
  );

/** A journal of some size that was closed. */
async function write(): Promise<{ content: Buffer; instance: string }> {
  const file = join(t.testdir({}), 'troupe.db');
  const journal = await Journal.open({ file });
  const kept = Array.from({ length: 20 }, (_, n) => ({ kind: 'batch', id: `b${n}`, data: { n } }) as const);
  await journal.write({ records: Array.from({ length: SESSIONS }, (_, n) => session(n)), keyValues: kept });
  await journal.write({ events: Array.from({ length: EVENTS }, (_, n) => said(n + 1)) });
  await journal.close();
  return { content: readFileSync(file), instance: journal.instance };
}

const { content, instance } = await write();
const pages = content.length / PAGE;
const copyIn = (t: Test): string => join(t.testdir({ 'troupe.db': content }), 'troupe.db');

function overwrite(file: string, page: number, pages: number, what: Buffer): void {
  const descriptor = openSync(file, 'r+');
  for (let n = 0; n < pages; n += 1) writeSync(descriptor, what, 0, PAGE, (page + n) * PAGE);
  closeSync(descriptor);
}

async function reopen(t: Test, file: string): Promise<{ journal: Journal; logged: string[] }> {
  const logged: string[] = [];
  const journal = await Journal.open({ file, log: (line) => logged.push(line) });
  t.teardown(() => journal.close());
  return { journal, logged };
}

const damagedIn = (file: string) =>
  readdirSync(dirname(file)).filter((name) => name.startsWith('troupe.db.damaged-') && !name.endsWith('-wal'));

const GARBAGE = Buffer.from(Array.from({ length: PAGE }, (_, n) => (n * 7919 + 13) % 251));

for (const [what, filling] of [
  ['zeros', Buffer.alloc(PAGE)],
  ['garbage', GARBAGE],
] as const) {
  t.test(`a journal with ${what} in its middle goes on with what can be read, and says what cannot`, async (t) => {
    const file = copyIn(t);
    for (const at of [0.3, 0.5, 0.8]) overwrite(file, Math.floor(pages * at), 2, filling);
    const before = readFileSync(file);
    const { journal, logged } = await reopen(t, file);

    const events = await journal.events({ after: 0, limit: 10_000 });
    const sessions = await journal.list({ limit: 10_000 });
    t.ok(events.length > EVENTS / 2 && events.length < EVENTS, `${events.length} of ${EVENTS} events`);
    t.equal(logged.length, 1);
    const line = logged[0] ?? '';
    t.match(
      line,
      /was damaged: .*could not be read; the rest was kept, and the damaged file is .*damaged-\d{8}T\d{6}Z$/,
    );
    const lost = Number(/up to (\d+) of events/.exec(line)?.[1] ?? 0);
    t.equal(lost, EVENTS - events.length, line);
    t.equal(Number(/up to (\d+) of sessions/.exec(line)?.[1] ?? 0), SESSIONS - sessions.length, line);
    for (const event of events) t.match(event.data, { text: new RegExp(`^${event.seq} y+$`) });
    const [damaged = ''] = damagedIn(file);
    t.equal(readFileSync(join(dirname(file), damaged)).length, before.length, 'the damaged file is kept beside');
    t.notOk(existsSync(`${file}.salvaged`));

    t.equal(journal.instance, instance);
    t.equal(await journal.write({ events: [said(1)] }), EVENTS + 1, 'no number is given twice');
    await journal.close();
    const again = await reopen(t, file);
    t.same(again.logged, [], 'it is whole from then on');
    t.equal((await again.journal.events({ after: 0, limit: 10_000 })).length, events.length + 1);
    t.equal(damagedIn(file).length, 1);
  });
}

t.test('each page that is damaged alone costs a part of the rows, and never the start', async (t) => {
  const count = hasAllCases ? pages - 1 : 4;
  for (let n = 0; n < count; n += 1) {
    const page = 1 + Math.floor((n * (pages - 1)) / count);
    const file = copyIn(t);
    overwrite(file, page, 1, Buffer.alloc(PAGE));
    const logged: string[] = [];
    const journal = await Journal.open({ file, log: (line) => logged.push(line) });
    const events = await journal.events({ after: 0, limit: 10_000 });
    const sessions = await journal.list({ limit: 10_000 });
    const lost = events.length < EVENTS || sessions.length < SESSIONS;
    t.equal(logged.length > 0 || !lost, true, `page ${page}: ${events.length}, ${sessions.length}, ${logged}`);
    await journal.close();
  }
});

t.test('a journal that is whole is left as it is', async (t) => {
  const file = copyIn(t);
  const { journal, logged } = await reopen(t, file);
  t.same(logged, []);
  t.equal((await journal.events({ after: 0, limit: 10_000 })).length, EVENTS);
  t.same(damagedIn(file), []);
});
