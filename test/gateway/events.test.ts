import t from 'tap';
import type { EventPage } from '#troupe/protocol/event-row.js';
import type { SessionId } from '#troupe/protocol/session.js';
import type { Sessions } from '#troupe/supervisor/ports/sessions.js';
import type { EventStreams, StreamSelection } from '#troupe/supervisor/ports/streams.js';
import { EventReader } from '../support/event-reader.js';
import { eventually } from '../support/eventually.js';
import { openHouse, scripted } from '../support/house.js';
import { httpCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const house = await openHouse(t);
const { sessions } = house;
/** The last event that each current reader got. */
const positions = new Map<symbol, number>();
const gateway = await house.listen({
  keepAliveMs: 50,
  sessions: scripted<Sessions>(sessions, { streams: scripted<EventStreams>(sessions.streams, { pages: followed }) }),
});

/** The events of the supervisor, recording what each reader has taken. */
async function* followed(selection: StreamSelection): AsyncGenerator<EventPage> {
  const reader = Symbol('reader');
  positions.set(reader, selection.after);
  try {
    for await (const page of sessions.streams.pages(selection)) {
      positions.set(reader, page.at(-1)?.event.seq ?? selection.after);
      yield page;
    }
  } finally {
    positions.delete(reader);
  }
}

/** Writes console lines into the journal together. Settles with the number of the last one. */
async function say(id: SessionId, ...texts: readonly string[]): Promise<number> {
  await house.append(id, ...texts.map((text) => ({ type: 'ConsoleWritten', data: { level: 'log', text } }) as const));
  return sessions.streams.lastSeq();
}

t.test('A client that is disconnected again and again resumes without gap or repeat', async (t) => {
  const { id } = await house.live();
  const first = sessions.streams.lastSeq() - 1;
  const total = 400;
  const write = async () => {
    while (sessions.streams.lastSeq() < total) await say(id, `line ${sessions.streams.lastSeq()}`);
  };
  const writing = write();
  const seen: number[] = [];
  for (let cuts = 0; seen.at(-1) !== total; cuts += 1) {
    const reader = await EventReader.open(gateway.url, `/api/sessions/${id}/events`, { after: seen.at(-1) });
    await reader.until(({ events, lastId }) => lastId === total || events.length >= 37);
    reader.cut();
    seen.push(...reader.events.map((event) => event.id));
    t.ok(cuts < 50, 'the reader gets on');
  }
  t.same(
    seen,
    Array.from({ length: total - first + 1 }, (_, index) => first + index),
  );
  await writing;
  await sessions.remove(id, false);
});

t.test("A session's stream has its own events, from beginning to end, as JSON", async (t) => {
  const { id } = await house.live();
  const other = await house.live();
  const reader = await EventReader.open(gateway.url, `/api/sessions/${id}/events`);
  await say(other.id, 'of the neighbour');
  await say(id, 'two\nlines');
  await sessions.remove(id, false);
  await reader.until(({ ended }) => ended);
  t.same(
    reader.events.map((event) => event.type),
    ['SessionAccepted', 'SessionStarted', 'ConsoleWritten', 'SessionEnded'],
  );
  t.match(reader.events[2], {
    data: { seq: reader.events[2]?.id, sessionId: id, type: 'ConsoleWritten', data: { text: 'two\nlines' } },
  });

  const again = await EventReader.open(gateway.url, `/api/sessions/${id}/events?after=${reader.events[1]?.id}`);
  await again.until(({ ended }) => ended);
  t.same(again.events, reader.events.slice(2), '?after resumes too, also when the session has ended');

  const headers = { 'last-event-id': String(reader.lastId) };
  const over = await httpCall(gateway.url, { method: 'GET', path: `/api/sessions/${id}/events`, headers });
  t.equal(over.status, 204, 'a reader that has seen all is told to stop asking');
  t.equal(over.headers['content-length'], undefined);
  await sessions.remove(other.id, false);
});

t.test('The stream of all sessions starts with the next event, also after a number from the future', async (t) => {
  const { id } = await house.live();
  const reader = await EventReader.open(gateway.url, '/api/events');
  const ahead = await EventReader.open(gateway.url, '/api/events', { after: 999_999 });
  const seq = await say(id, 'now');
  for (const each of [reader, ahead]) {
    await each.until(({ lastId }) => lastId === seq);
    t.same(
      each.events.map((event) => event.id),
      [seq],
    );
    each.cut();
  }
  await sessions.remove(id, false);
});

t.test('The stream sends the stored JSON text of an event', async (t) => {
  const { id } = await house.live();
  const after = sessions.streams.lastSeq();
  const texts = ['plain', 'two\nlines\r\n', '"quoted" \\ and \u2028 and \u0000', 'ü 🎭', '\ud800 alone'];
  await say(id, ...texts);
  await sessions.remove(id, false);
  const answer = await httpCall(gateway.url, { method: 'GET', path: `/api/sessions/${id}/events?after=${after}` });
  const expected: string[] = [];
  for await (const page of sessions.streams.pages({ id, after, signal: new AbortController().signal })) {
    for (const { event } of page) {
      expected.push(`id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
  }
  t.equal(expected.length, texts.length + 1);
  t.equal(answer.text, ['retry: 2000\n\n', ...expected].join(''));
});

t.test('A caller may have 250 streams open; the next one is refused, that of another caller is not', async (t) => {
  const own = await Promise.all(Array.from({ length: 250 }, () => EventReader.open(gateway.url, '/api/events')));
  t.ok(own.every(({ status }) => status === 200));
  for (const path of ['/api/events', '/api/sessions/zzzzzzzzzzzz/events']) {
    const { id } = await house.live();
    const refused = await httpCall(gateway.url, { method: 'GET', path: path.replace('zzzzzzzzzzzz', id) });
    t.match(refused, { status: 429, headers: { 'retry-after': '5' }, json: { code: 'CAPACITY' } });
    t.match(refused.json, { error: /250 event streams/ });
    await sessions.remove(id, false);
  }
  t.equal((await httpCall(gateway.url, { method: 'HEAD', path: '/api/events' })).status, 200);
  const other = await EventReader.open(gateway.url, '/api/events', { from: '127.0.0.2' });
  t.equal(other.status, 200);
  const before = positions.size;
  own[0]?.cut();
  await eventually('it has left', () => positions.size === before - 1);
  const next = await EventReader.open(gateway.url, '/api/events');
  t.equal(next.status, 200, 'one that leaves makes room');
  for (const reader of [...own, other, next]) reader.cut();
  await eventually('no reader is left', () => positions.size === 0);
});

t.test('An idle stream sends comments', async (t) => {
  const reader = await EventReader.open(gateway.url, '/api/events');
  await reader.until(({ comments }) => comments >= 2);
  t.same(reader.events, []);
  reader.cut();
});

t.test('A client that disconnects is released', async (t) => {
  await eventually('no reader is left', () => positions.size === 0);
  const reader = await EventReader.open(gateway.url, '/api/events');
  await reader.until(({ comments }) => comments >= 1);
  t.equal(positions.size, 1);
  reader.cut();
  await eventually('nothing is read for it any more', () => positions.size === 0);
});

t.test('One of 100 clients reads nothing: the others get all events, and nothing is kept for it', async (t) => {
  const noisy = await house.live();
  const quiet = await house.live();
  const after = sessions.streams.lastSeq();
  const open = (path: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => EventReader.open(gateway.url, path, { after })));
  const stuck = await EventReader.open(gateway.url, '/api/events', { after, reading: false });
  const ofAll = await open('/api/events', 9);
  const ofQuiet = await open(`/api/sessions/${quiet.id}/events`, 90);
  const expected: number[] = [];
  const texts = Array<string>(10).fill('x'.repeat(16 * 1024));
  for (let n = 0; n < 50; n += 1) {
    await say(noisy.id, ...texts);
    expected.push(await say(quiet.id, `quiet ${n}`));
  }
  const last = sessions.streams.lastSeq();
  await Promise.all([...ofAll, ...ofQuiet].map((reader) => reader.until(({ lastId }) => lastId === last)));
  for (const reader of ofQuiet) {
    t.same(
      reader.events.map((event) => event.id),
      expected,
    );
  }
  for (const reader of ofAll) t.equal(reader.events.length, 550);
  const behind = [...positions.values()].filter((position) => position < last);
  t.equal(behind.length, 1, 'what the stuck reader has not taken was not read for it');

  stuck.resume();
  await stuck.until(({ lastId }) => lastId === last);
  t.same(stuck.events, ofAll[0]?.events, 'once it reads, it gets the same');
  for (const reader of [stuck, ...ofAll, ...ofQuiet]) reader.cut();
  await sessions.remove(noisy.id, false);
  await sessions.remove(quiet.id, false);
});
