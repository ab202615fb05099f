import { once } from 'node:events';
import t from 'tap';
import type { SessionId } from '#troupe/protocol/session.js';
import { openHouse } from '../support/house.js';
import { guardLeaks } from '../support/leaks.js';
import { StreamClient } from '../support/stream-client.js';

guardLeaks(t);

const house = await openHouse(t);
const { sessions } = house;
const gateway = await house.listen();
const never = new AbortController().signal;

const say = (id: SessionId, text: string): Promise<void> =>
  house.append(id, { type: 'ConsoleWritten', data: { level: 'log', text } });

/** Writes this many lines, a few at a time. */
async function sayAll(id: SessionId, lines: number, atOnce: number): Promise<void> {
  for (let said = 0; said < lines; said += atOnce) {
    const some = Math.min(atOnce, lines - said);
    await Promise.all(Array.from({ length: some }, (_, n) => say(id, `line ${said + n}`)));
  }
}

t.test('Viewers that come and go while events are written see each event once, in order', async (t) => {
  const { id } = await house.live();
  const first = sessions.streams.lastSeq();
  const last = first + 500;
  const writing = sayAll(id, last - first, 5);
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
  await writing;
  await sessions.remove(id, false);
});

t.test('A page that hears nothing asks, and is answered', async () => {
  const client = await StreamClient.open(gateway.url);
  client.ask({ type: 'ping' });
  await client.until(() => client.of('pong').length === 1);
  await client.close();
});

t.test('An ended session is sent completely and then reported as over', async (t) => {
  const { id } = await house.live();
  await sayAll(id, 450, 450);
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

t.test(
  'A session that ends while it is watched is reported as over, one that is no longer watched is not',
  async (t) => {
    const [watched, left] = [await house.live(), await house.live()];
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
  },
);

t.test(
  'The list starts with the running sessions and their activity, and then gets changes, at most one per session at a time',
  async (t) => {
    const early = await house.live({ name: 'early' });
    const reads = sessions.runScript(early.id, 'agent.wait(60000)', never).catch(() => undefined);
    await say(early.id, 'read');
    const first = await StreamClient.open(gateway.url);
    first.ask({ type: 'watchSessions' });
    await first.until(() => first.of('rows').some(({ rows }) => rows.some(({ doing }) => doing !== null)));
    await first.close();
    const client = await StreamClient.open(gateway.url);
    await client.until(() => client.of('hello').length === 1);
    t.match(client.of('hello')[0], { capacity: { max: Number, running: Number, queued: Number }, version: String });
    client.ask({ type: 'watchSessions', failedSince: new Date(0).toISOString() });
    client.ask({ type: 'watchSessions' });
    await client.until(() => client.of('rows').length === 1);
    t.match(client.of('rows')[0]?.rows, [{ record: { id: early.id, status: 'running' }, doing: 'agent.wait(60000)' }]);
    t.match(client.of('counts'), [{ of: { running: 1, queued: 0, stopped: Number }, failed: 0 }]);
    const { id } = await house.live({ name: 'watched' });
    const looks = sessions.runScript(id, 'agent.wait(50000)', never).catch(() => undefined);
    await sayAll(id, 100, 100);
    const newest = () =>
      client
        .of('rows')
        .at(-1)
        ?.rows.find(({ record }) => record.id === id);
    await client.until(() => newest()?.doing === 'agent.wait(50000)');
    t.match(newest(), { record: { id, name: 'watched', status: 'running' } });
    for (const { rows } of client.of('rows')) {
      t.equal(new Set(rows.map(({ record }) => record.id)).size, rows.length, 'each session once');
    }
    t.ok(client.of('rows').length < 50, 'a hundred lines are not a hundred changes');
    for (const one of [id, early.id]) await sessions.remove(one, false);
    await Promise.all([reads, looks]);
    await client.until(() => client.of('rows').at(-1)?.rows[0]?.record.status === 'stopped');
    await client.close();
  },
);

t.test('An invalid request is refused, and the connection continues', async (t) => {
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
    [`{"type": "holdControl", "id": "aaaaaaaaaaaa", "key": "${'k'.repeat(22)}"}`, 'SESSION_ENDED'],
  ] as const;
  for (const [index, [text, code]] of asked.entries()) {
    client.socket.send(text);
    await client.until(() => client.of('refused').length === index + 1);
    t.equal(client.of('refused')[index]?.error.code, code, text);
  }
  client.socket.send('x'.repeat(300_000));
  t.not(await client.closed, 1000, 'a message over its bound ends the connection');
});

t.test('Unauthorized clients are refused', async (t) => {
  const guarded = await house.listen({ token: 'secret' });
  const authorization = 'Bearer secret';
  await t.rejects(StreamClient.open(guarded.url), { message: /401/ });
  await t.rejects(StreamClient.open(guarded.url, { authorization, origin: 'http://evil.test' }), { message: /403/ });
  await t.rejects(StreamClient.open(guarded.url, { authorization, host: 'evil.test' }), { message: /403/ });
  const client = await StreamClient.open(guarded.url, { authorization });
  await client.until(() => client.of('hello').length === 1);
  t.match(client.of('hello')[0], { token: { name: 'configured', role: 'admin' } });
  await client.close();
});

t.test('A viewer that reads nothing is disconnected, and resumes where it was', async (t) => {
  const { id } = await house.live();
  const client = await StreamClient.open(gateway.url);
  client.ask({ type: 'watchSession', id, after: 0 });
  await client.until(() => client.seqs().length > 0);
  client.socket.pause();
  const text = 'x'.repeat(500_000);
  let written = 0;
  // Until the buffers of the kernel and the viewer are full, and its connection is cut.
  const feed = async () => {
    for (; written < 60; written += 1) await say(id, text);
  };
  const feeding = feed();
  const other = await StreamClient.open(gateway.url);
  other.ask({ type: 'watchSession', id, after: 0 });
  await other.until(() => written === 60 && other.seqs().at(-1) === sessions.streams.lastSeq());
  await feeding;
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

t.test('A screen is sent at the pace of each viewer, and not after it stops watching', async (t) => {
  const { id } = await house.live();
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

t.test('A service that stops tells its viewers', async (t) => {
  const stopping = await house.listen();
  const client = await StreamClient.open(stopping.url);
  const closed = once(client.socket, 'close');
  await stopping.close(1000);
  t.equal((await closed)[0], 1001);
});
