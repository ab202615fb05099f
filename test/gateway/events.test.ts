import t from 'tap';
import { Gateway } from '#troupe/gateway/server.js';
import type { SessionId } from '#troupe/protocol/session.js';
import { EventReader } from '../support/event-reader.js';
import { httpCall } from '../support/http-call.js';
import { InMemorySessions } from '../support/in-memory-sessions.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const sessions = new InMemorySessions();
const gateway = await Gateway.listen({ host: '127.0.0.1', port: 0, sessions, allowedHosts: [], keepAliveMs: 50 });
t.teardown(() => gateway.close(1000));
const nobody = { caller: 'a test', signal: new AbortController().signal };

const say = (id: SessionId, text: string): number =>
  sessions.append(id, { type: 'ConsoleWritten', data: { level: 'log', text } });

t.test('A reader that is cut off again and again resumes without gap or repeat', async (t) => {
  const { id } = await sessions.createLive({}, nobody);
  const first = sessions.streams.lastSeq() - 1;
  const total = 400;
  let written = sessions.streams.lastSeq();
  const writing = setInterval(() => {
    for (let n = 0; n < 10 && written < total; n += 1) written = say(id, `line ${written}`);
  }, 1);
  t.teardown(() => clearInterval(writing));
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
  await sessions.remove(id, false);
});

t.test("A session's stream holds its own events, from its beginning to its end, as JSON", async (t) => {
  const { id } = await sessions.createLive({}, nobody);
  const other = await sessions.createLive({}, nobody);
  const reader = await EventReader.open(gateway.url, `/api/sessions/${id}/events`);
  say(other.id, 'of the neighbour');
  say(id, 'two\nlines');
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

t.test(
  'The stream of all sessions begins with what comes next, also after a number that was never given',
  async (t) => {
    const { id } = await sessions.createLive({}, nobody);
    const reader = await EventReader.open(gateway.url, '/api/events');
    const ahead = await EventReader.open(gateway.url, '/api/events', { after: 999_999 });
    const seq = say(id, 'now');
    for (const each of [reader, ahead]) {
      await each.until(({ lastId }) => lastId === seq);
      t.same(
        each.events.map((event) => event.id),
        [seq],
      );
      each.cut();
    }
    await sessions.remove(id, false);
  },
);

t.test('What is sent of an event is the text that its JSON has', async (t) => {
  const { id } = await sessions.createLive({}, nobody);
  const after = sessions.streams.lastSeq();
  const texts = ['plain', 'two\nlines\r\n', '"quoted" \\ and \u2028 and \u0000', 'ü 🎭', '\ud800 alone'];
  for (const text of texts) say(id, text);
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

t.test('A caller may have 250 streams open; the next is refused, that of another is not', async (t) => {
  const own = await Promise.all(Array.from({ length: 250 }, () => EventReader.open(gateway.url, '/api/events')));
  t.ok(own.every(({ status }) => status === 200));
  for (const path of ['/api/events', '/api/sessions/zzzzzzzzzzzz/events']) {
    const { id } = await sessions.createLive({}, nobody);
    const refused = await httpCall(gateway.url, { method: 'GET', path: path.replace('zzzzzzzzzzzz', id) });
    t.match(refused, { status: 429, headers: { 'retry-after': '5' }, json: { code: 'CAPACITY' } });
    t.match(refused.json, { error: /250 event streams/ });
    await sessions.remove(id, false);
  }
  t.equal((await httpCall(gateway.url, { method: 'HEAD', path: '/api/events' })).status, 200);
  const other = await EventReader.open(gateway.url, '/api/events', { from: '127.0.0.2' });
  t.equal(other.status, 200);
  const left = sessions.until('reader-left', AbortSignal.timeout(5000));
  own[0]?.cut();
  await left;
  const next = await EventReader.open(gateway.url, '/api/events');
  t.equal(next.status, 200, 'one that leaves makes room');
  for (const reader of [...own, other, next]) reader.cut();
  while (sessions.positions.size > 0) await sessions.until('reader-left', AbortSignal.timeout(5000));
});

t.test('A silent stream sends comments', async (t) => {
  const reader = await EventReader.open(gateway.url, '/api/events');
  await reader.until(({ comments }) => comments >= 2);
  t.same(reader.events, []);
  reader.cut();
});

t.test('A reader that goes is let go of', async (t) => {
  while (sessions.positions.size > 0) await sessions.until('reader-left', AbortSignal.timeout(5000));
  const reader = await EventReader.open(gateway.url, '/api/events');
  await reader.until(({ comments }) => comments >= 1);
  t.equal(sessions.positions.size, 1);
  const left = sessions.until('reader-left', AbortSignal.timeout(5000));
  reader.cut();
  await left;
  t.equal(sessions.positions.size, 0);
});

t.test('One of 100 readers reads nothing: the others get all of theirs, and nothing is held for it', async (t) => {
  const noisy = await sessions.createLive({}, nobody);
  const quiet = await sessions.createLive({}, nobody);
  const after = sessions.streams.lastSeq();
  const open = (path: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => EventReader.open(gateway.url, path, { after })));
  const stuck = await EventReader.open(gateway.url, '/api/events', { after, reading: false });
  const ofAll = await open('/api/events', 9);
  const ofQuiet = await open(`/api/sessions/${quiet.id}/events`, 90);
  const expected: number[] = [];
  const text = 'x'.repeat(16 * 1024);
  for (let n = 0; n < 500; n += 1) {
    say(noisy.id, text);
    if (n % 10 === 9) expected.push(say(quiet.id, `quiet ${n}`));
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
  const behind = [...sessions.positions.values()].filter((position) => position < last);
  t.equal(behind.length, 1, 'what the stuck reader has not taken was not read for it');

  stuck.resume();
  await stuck.until(({ lastId }) => lastId === last);
  t.same(stuck.events, ofAll[0]?.events, 'once it reads, it gets the same');
  for (const reader of [stuck, ...ofAll, ...ofQuiet]) reader.cut();
  await sessions.remove(noisy.id, false);
  await sessions.remove(quiet.id, false);
});
