import { once } from 'node:events';
import t from 'tap';
import { Gateway } from '#troupe/gateway/server.js';
import type { SessionId } from '#troupe/protocol/session.js';
import { InMemorySessions } from '../support/in-memory-sessions.js';
import { guardLeaks } from '../support/leaks.js';
import { StreamClient } from '../support/stream-client.js';

guardLeaks(t);

const sessions = new InMemorySessions();
const gateway = await Gateway.listen({ host: '127.0.0.1', port: 0, sessions, allowedHosts: [] });
t.teardown(() => gateway.close(1000));
const never = new AbortController().signal;
const asker = { caller: 'a page', signal: never };

const say = (id: SessionId, text: string): number =>
  sessions.append(id, { type: 'ConsoleWritten', data: { level: 'log', text } });

t.test('Viewers that come and go while events are written see each once, in order', async (t) => {
  const { id } = await sessions.createLive({}, asker);
  const first = sessions.streams.lastSeq();
  const last = first + 500;
  const writing = setInterval(() => {
    for (let n = 0; n < 5 && sessions.streams.lastSeq() < last; n += 1) say(id, `line ${n}`);
  }, 1);
  t.teardown(() => clearInterval(writing));
  const watchAll = async (cutAfter: number) => {
    const seen: number[] = [];
    while (seen.at(-1) !== last) {
      const client = await StreamClient.open(gateway.url);
      client.ask({ type: 'watchSession', id, after: seen.at(-1) ?? first - 1 });
      await client.until(() => client.seqs().at(-1) === last || client.seqs().length >= cutAfter);
      seen.push(...client.seqs().filter((seq) => seq > (seen.at(-1) ?? 0)));
      await client.close();
    }
    return seen;
  };
  const expected = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const all = await Promise.all([watchAll(1000), watchAll(61), watchAll(170), watchAll(7)]);
  for (const seen of all) t.same(seen, expected);
  await sessions.remove(id, false);
});

t.test('An ended session is sent whole and then said to be over', async (t) => {
  const { id } = await sessions.createLive({}, asker);
  for (let line = 0; line < 450; line += 1) say(id, `line ${line}`);
  await sessions.remove(id, false);
  const client = await StreamClient.open(gateway.url);
  client.ask({ type: 'watchSession', id, after: 0 });
  await client.until(() => client.of('over').length === 1);
  const whole = [];
  for await (const { seq } of sessions.streams.events({ id, after: 0, signal: never })) whole.push(seq);
  t.same(client.seqs(), whole);
  t.equal(client.messages.at(-1)?.type, 'over');
  await client.close();
});

t.test('A session that ends while it is watched is said to be over, and one no longer watched is not', async (t) => {
  const [watched, left] = [await sessions.createLive({}, asker), await sessions.createLive({}, asker)];
  const client = await StreamClient.open(gateway.url);
  client.ask({ type: 'watchSession', id: watched.id, after: 0 });
  client.ask({ type: 'watchSession', id: left.id, after: 0 });
  await client.until(() => new Set(client.of('events').map(({ id }) => id)).size === 2);
  const before = client.seqs().length;
  client.ask({ type: 'unwatchSession', id: left.id });
  client.ask({ type: 'watchSession', id: watched.id, after: 0 });
  await client.until(() => client.seqs().length > before);
  await sessions.remove(left.id, false);
  await sessions.remove(watched.id, false);
  await client.until(() => client.of('over').length > 0);
  t.same(
    client.of('over').map(({ id }) => id),
    [watched.id],
  );
  await client.close();
});

t.test(
  'The list begins with what runs and does, and is told what changed, a session at most once at a time',
  async (t) => {
    const early = await sessions.createLive({ name: 'early' }, asker);
    sessions.append(early.id, { type: 'ScriptStarted', data: { script: 1, kind: 'script', js: 'agent.text()' } });
    say(early.id, 'read');
    const client = await StreamClient.open(gateway.url);
    await client.until(() => client.of('hello').length === 1);
    t.match(client.of('hello')[0], { capacity: { max: Number, running: Number, queued: Number }, version: String });
    client.ask({ type: 'watchSessions', failedSince: new Date(0).toISOString() });
    client.ask({ type: 'watchSessions' });
    await client.until(() => client.of('rows').length === 1);
    t.match(client.of('rows')[0]?.rows, [{ record: { id: early.id, status: 'running' }, doing: 'agent.text()' }]);
    t.match(client.of('counts'), [{ of: { running: 1, queued: 0, stopped: Number }, failed: 0 }]);
    const { id } = await sessions.createLive({ name: 'watched' }, asker);
    sessions.append(id, { type: 'ScriptStarted', data: { script: 1, kind: 'script', js: 'agent.look()' } });
    for (let line = 0; line < 100; line += 1) say(id, `line ${line}`);
    await client.until(() => client.of('rows').length === 2);
    const { rows } = client.of('rows')[1] ?? { rows: [] };
    t.match(rows, [{ record: { id, name: 'watched', status: 'running' }, doing: 'agent.look()' }]);
    t.equal(rows.length, 1);
    for (const one of [id, early.id]) await sessions.remove(one, false);
    await client.until(() => client.of('rows').at(-1)?.rows[0]?.record.status === 'stopped');
    await client.close();
  },
);

t.test('What is asked wrongly is refused, and the connection goes on', async (t) => {
  const client = await StreamClient.open(gateway.url);
  const asked = [
    ['{', 'INVALID_JSON'],
    ['{"type": "watch"}', 'INVALID_REQUEST'],
    ['{"type": "watchSessions", "extra": 1}', 'INVALID_REQUEST'],
    ['{"type": "watchSession", "id": "../etc/passwd", "after": 0}', 'INVALID_REQUEST'],
    ['{"type": "watchSession", "id": "aaaaaaaaaaaa", "after": 0}', 'NOT_FOUND'],
    ['{"type": "copy", "id": "aaaaaaaaaaaa"}', 'SESSION_BUSY'],
    ['{"type": "input", "id": "aaaaaaaaaaaa", "inputs": [{"kind": "text", "text": "x"}]}', 'SESSION_BUSY'],
    ['{"type": "input", "id": "aaaaaaaaaaaa", "inputs": []}', 'INVALID_REQUEST'],
    ['{"type": "input", "id": "aaaaaaaaaaaa", "inputs": [{"kind": "voice"}]}', 'INVALID_REQUEST'],
    [`{"type": "holdControl", "id": "aaaaaaaaaaaa", "key": "${'k'.repeat(22)}"}`, 'SESSION_BUSY'],
  ] as const;
  for (const [index, [text, code]] of asked.entries()) {
    client.socket.send(text);
    await client.until(() => client.of('refused').length === index + 1);
    t.equal(client.of('refused')[index]?.error.code, code, text);
  }
  client.socket.send('x'.repeat(300_000));
  t.not(await client.closed, 1000, 'a message over its bound ends the connection');
});

t.test('Strangers are not let in', async (t) => {
  const guarded = await Gateway.listen({ host: '127.0.0.1', port: 0, sessions, allowedHosts: [], token: 'secret' });
  t.teardown(() => guarded.close(1000));
  const authorization = 'Bearer secret';
  await t.rejects(StreamClient.open(guarded.url), { message: /401/ });
  await t.rejects(StreamClient.open(guarded.url, { authorization, origin: 'http://evil.test' }), { message: /403/ });
  await t.rejects(StreamClient.open(guarded.url, { authorization, host: 'evil.test' }), { message: /403/ });
  const client = await StreamClient.open(guarded.url, { authorization });
  await client.until(() => client.of('hello').length === 1);
  t.match(client.of('hello')[0], { token: { name: 'configured', role: 'admin' } });
  await client.close();
});

t.test('A viewer that reads nothing is let go of, and goes on where it was', async (t) => {
  const { id } = await sessions.createLive({}, asker);
  const client = await StreamClient.open(gateway.url);
  client.ask({ type: 'watchSession', id, after: 0 });
  await client.until(() => client.seqs().length > 0);
  client.socket.pause();
  const text = 'x'.repeat(500_000);
  let written = 0;
  // Until the kernel's buffers and the viewer's own are full, and its connection is cut.
  const feeding = setInterval(() => {
    say(id, text);
    written += 1;
    if (written === 60) clearInterval(feeding);
  }, 5);
  t.teardown(() => clearInterval(feeding));
  const other = await StreamClient.open(gateway.url);
  other.ask({ type: 'watchSession', id, after: 0 });
  await other.until(() => written === 60 && other.seqs().at(-1) === sessions.streams.lastSeq());
  client.socket.resume();
  t.not(await client.closed, 1000);
  t.ok(client.seqs().length < other.seqs().length, `${client.seqs().length} came before`);
  const again = await StreamClient.open(gateway.url);
  again.ask({ type: 'watchSession', id, after: client.seqs().at(-1) ?? 0 });
  await again.until(() => again.seqs().at(-1) === other.seqs().at(-1));
  t.same([...client.seqs(), ...again.seqs()], other.seqs());
  await Promise.all([other.close(), again.close()]);
  await sessions.remove(id, false);
});

t.test('A screen is shown at the pace that each viewer wants, and no more once it looks away', async (t) => {
  const { id } = await sessions.createLive({}, asker);
  const [fast, slow] = [await StreamClient.open(gateway.url), await StreamClient.open(gateway.url)];
  slow.ask({ type: 'watchScreen', id, pace: 'slow' });
  fast.ask({ type: 'watchScreen', id, pace: 'live' });
  await fast.until(() => fast.of('frame').length >= 5 && slow.of('frame').length >= 1);
  t.match(fast.of('frame')[0], { id, width: 4, height: 3 });
  t.ok(slow.of('frame').length < fast.of('frame').length);
  fast.ask({ type: 'unwatchScreen', id });
  const [missing] = ['b'.repeat(12) as SessionId];
  fast.ask({ type: 'watchScreen', id: missing, pace: 'live' });
  await fast.until(() => fast.of('refused').length === 1);
  const seen = fast.of('frame').length;
  const slowly = slow.of('frame').length;
  await slow.until(() => slow.of('frame').length > slowly);
  t.equal(fast.of('frame').length, seen);
  await sessions.remove(id, false);
  await Promise.all([fast.close(), slow.close()]);
});

t.test('A service that stops says so to its viewers', async (t) => {
  const stopping = await Gateway.listen({ host: '127.0.0.1', port: 0, sessions, allowedHosts: [] });
  const client = await StreamClient.open(stopping.url);
  const closed = once(client.socket, 'close');
  await stopping.close(1000);
  t.equal((await closed)[0], 1001);
});
