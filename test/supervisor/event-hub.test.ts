import { join } from 'node:path';
import t, { type Test } from 'tap';
import { withDeadline } from '#troupe/base/deadline.js';
import { Journal } from '#troupe/journal/journal.js';
import { type EventPage, eventRow } from '#troupe/protocol/event-row.js';
import { SessionId } from '#troupe/protocol/session.js';
import { EventHub } from '#troupe/supervisor/events/event-hub.js';
import { guardLeaks } from '../support/leaks.js';
import { journalPlace } from '../support/test-store.js';

guardLeaks(t);

const ID = SessionId.parse('s00000000001');
const AT = '2026-01-02T03:04:05.678Z';

const line = (n: number, characters: number) =>
  eventRow(ID, { type: 'ConsoleWritten', data: { level: 'log', text: `${n} `.padEnd(characters, '.') } }, AT);

async function hubOf(t: Test): Promise<EventHub> {
  return (await stage(t)).hub;
}

async function stage(t: Test): Promise<{ readonly hub: EventHub; readonly journal: Journal }> {
  const journal = await Journal.open(await journalPlace(t, join(t.testdir(), 'troupe.db')));
  t.teardown(() => journal.close());
  return { hub: new EventHub(journal), journal };
}

const lines = (count: number, characters: number) => Array.from({ length: count }, (_, n) => line(n, characters));

/** The numbers in the lines that a reader gets who has seen the first `after` events. */
async function readAfter(hub: EventHub, after: number): Promise<number[]> {
  const read: number[] = [];
  const selection = { after, upTo: hub.lastSeq(), signal: new AbortController().signal };
  for await (const event of hub.stream(selection, () => true)) {
    if (event.type === 'ConsoleWritten') read.push(Number.parseInt(event.data.text, 10));
  }
  return read;
}

t.test('However many read what is in memory, the event loop is given back in between', async (t) => {
  const hub = await hubOf(t);
  await hub.write({ events: lines(2_000, 100) });
  let laps = 0;
  let over = false;
  const lap = () => {
    laps += 1;
    if (!over) setImmediate(lap);
  };
  setImmediate(lap);
  const read = await Promise.all(Array.from({ length: 50 }, () => readAfter(hub, 0)));
  over = true;
  t.ok(
    read.every((numbers) => numbers.length === 2_000),
    'each reads all',
  );
  t.ok(laps >= 5, `others had ${laps} turns meanwhile`);
});

t.test('Readers of the same events get the same pages, of the past and of the present', async (t) => {
  const { hub } = await stage(t);
  for (let n = 0; n < 6; n += 1) await hub.write({ events: lines(1_000, 20) });
  const read = async (sessionId: SessionId | undefined) => {
    const pages: EventPage[] = [];
    const selection = { sessionId, after: 0, upTo: hub.lastSeq(), signal: new AbortController().signal };
    for await (const page of hub.pages(selection, () => true)) pages.push(page);
    return pages;
  };
  for (const sessionId of [undefined, ID]) {
    const [one, ...others] = await Promise.all(Array.from({ length: 5 }, () => read(sessionId)));
    t.equal(one?.flat().length, 6_000);
    for (const other of others) t.ok(other.every((page, index) => page === one?.[index]));
  }
});

t.test('A page is small however much is in memory, so that a slow reader holds little', async (t) => {
  const hub = await hubOf(t);
  await hub.write({ events: [...lines(3_000, 20), ...lines(100, 20_000), line(0, 1_000_000), line(1, 20)] });
  const selection = { after: 0, upTo: hub.lastSeq(), signal: new AbortController().signal };
  for await (const page of hub.pages(selection, () => true)) {
    const characters = page.reduce((sum, { row }) => sum + row[3].length, 0);
    t.ok(page.length <= 256);
    t.ok(page.length === 1 || characters <= 64 * 1024, `${page.length} events of ${characters} characters`);
  }
});

t.test('A write does not wait until everybody has read', async (t) => {
  const { hub } = await stage(t);
  for (let n = 0; n < 5; n += 1) await hub.write({ events: lines(1_000, 20) });
  let whole = 0;
  const readers = Array.from({ length: 40 }, async (_, n) => {
    // Each has a past of its own, and so pages that it shares with nobody.
    await readAfter(hub, n);
    whole += 1;
  });
  await hub.write({ events: [line(0, 20)] });
  t.ok(whole < 20, `${whole} of 40 had read all when the write was on disk`);
  await Promise.all(readers);
});

t.test('A service that starts again shows every event of the one before, the newest too', async (t) => {
  const { hub, journal } = await stage(t);
  await hub.write({ events: lines(10, 20) });
  const after = new EventHub(journal);
  t.same(
    await readAfter(after, 0),
    Array.from({ length: 10 }, (_, n) => n),
  );
});

t.test("A session's pages end with its end", async (t) => {
  const hub = await hubOf(t);
  const other = SessionId.parse('s00000000002');
  const end = { status: 'stopped', endReason: 'deleted', summary: null, error: null } as const;
  const ended = (id: SessionId) => eventRow(id, { type: 'SessionEnded', data: end }, AT);
  await hub.write({ events: [line(0, 20), ended(other), line(1, 20), ended(ID), line(2, 20)] });
  const read: string[] = [];
  const selection = { sessionId: ID, after: 0, signal: new AbortController().signal };
  for await (const page of hub.pages(selection, () => true)) read.push(...page.map(({ type }) => type));
  t.same(read, ['ConsoleWritten', 'ConsoleWritten', 'SessionEnded']);
});

for (const [kind, count, characters] of [
  ['many', 10_000, 20],
  ['large', 40, 1_000_000],
] as const) {
  t.test(`Of ${kind} events every reader gets all, in order, wherever it begins`, async (t) => {
    const hub = await hubOf(t);
    const numbers = Array.from({ length: count }, (_, n) => n);
    for (let from = 0; from < count; from += count / 10) {
      await hub.write({ events: numbers.slice(from, from + count / 10).map((n) => line(n, characters)) });
    }
    for (const after of [0, 1, count / 2, count - 2]) t.same(await readAfter(hub, after), numbers.slice(after));
  });
}

t.test('Who follows a session of another node gets its events also if this node wrote some since', async (t) => {
  const { hub, journal } = await stage(t);
  const other = SessionId.parse('s00000000002');
  const said = (sessionId: SessionId, text: string) =>
    eventRow(sessionId, { type: 'ConsoleWritten', data: { level: 'log', text } }, AT);
  const ended = new AbortController();
  t.teardown(() => ended.abort());
  const reader = hub.stream({ sessionId: other, after: 0, signal: ended.signal }, () => true);
  const first = reader.next();
  // By then, the reader waits.
  await hub.write({ events: [said(ID, 'before')] });
  await journal.write({ events: [said(other, 'elsewhere')] });
  await hub.write({ events: [said(ID, 'here')] });
  hub.foreignEvents(journal.lastSeq());
  t.match(await withDeadline(first, { ms: 5_000 }), { value: { data: { text: 'elsewhere' } } });
});
