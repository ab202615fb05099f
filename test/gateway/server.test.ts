import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { Gateway } from '#troupe/gateway/server.js';
import type { Artifacts } from '#troupe/supervisor/ports/artifacts.js';
import type { Sessions } from '#troupe/supervisor/ports/sessions.js';
import { EventReader } from '../support/event-reader.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-ports.js';
import { openHouse, scripted } from '../support/house.js';
import { httpCall, rawCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';
import { testedServer } from '../support/tested-server.js';

guardLeaks(t);

const deadline = () => ({ signal: AbortSignal.timeout(60_000) });

const house = await openHouse(t, { maxSessions: 20 });
const { sessions } = house;

/** Ends what a test left running, so that the next one starts with nothing. */
t.afterEach(async () => {
  for (const { id } of await sessions.list({ limit: 1000 })) await sessions.remove(id, true);
});

/** A connection with part of a request. */
async function half(gateway: Gateway, text: string): Promise<Socket> {
  const socket = connect(gateway.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.resume();
  await once(socket, 'connect', deadline());
  socket.write(text);
  return socket;
}

/** Settles when a connection has ended in any way; rejects after 15 s. */
function over(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('The connection is still open')), 60_000);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

t.test('A second service on the same port fails with a helpful message', async (t) => {
  const gateway = await house.listen();
  const other = { server: testedServer(), host: '127.0.0.1', port: gateway.port, sessions, allowedHosts: [] };
  await t.rejects(Gateway.listen(other), {
    code: 'UNAVAILABLE',
    message: `Another program already listens on 127.0.0.1:${gateway.port}; stop it, or choose another port (0 takes a free one)`,
  });
  await t.rejects(Gateway.listen({ ...other, host: '0.0.0.0' }), { code: 'UNAVAILABLE' });
  await t.rejects(Gateway.listen({ ...other, host: '192.0.2.1' }), { message: /is not an address of this machine/ });
  t.equal((await httpCall(gateway.url, { method: 'GET', path: '/api/health' })).status, 200);
});

t.test('Until the service is ready every request gets 503 with Retry-After', async (t) => {
  const gateway = await Gateway.listen({ server: testedServer(), host: '127.0.0.1', port: 0, allowedHosts: [] });
  t.teardown(() => gateway.close(1000));
  const health = () => httpCall(gateway.url, { method: 'GET', path: '/api/health' });
  t.match(await health(), { status: 503, headers: { 'retry-after': '1' }, json: { code: 'UNAVAILABLE' } });
  gateway.serve(sessions);
  t.match(await health(), { status: 200 });
});

t.test(
  "A service can listen on a port right after another, while that one's clients are still connected",
  async (t) => {
    const port = await freePort();
    for (let round = 0; round < 3; round += 1) {
      const gateway = await house.listen({ port });
      t.equal(gateway.url, `http://127.0.0.1:${port}`);
      const client = await half(gateway, 'GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await once(client, 'data', deadline());
      const closed = over(client);
      await gateway.close(1000);
      await closed;
      await t.rejects(httpCall(gateway.url, { method: 'GET', path: '/' }), { code: 'ECONNREFUSED' });
    }
  },
);

t.test('Closing ends event streams at once, and open requests by the deadline', async (t) => {
  const gateway = await house.listen();
  const readers = await Promise.all([1, 2, 3].map(() => EventReader.open(gateway.url, '/api/events')));
  const kept = await half(gateway, 'GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(kept, 'data', deadline());
  const body = '{"prompt":"x","maxIterations":0,"flowFiles":["endless.js"]}';
  const waiting = httpCall(gateway.url, { method: 'POST', path: '/api/sessions/run', body });
  await eventually('the job runs', async () => (await sessions.list({ state: 'running' })).length === 1);
  const closing = gateway.close(20_000);
  t.equal(gateway.close(1), closing, 'a second close is the first');
  await Promise.all(readers.map((reader) => reader.until(({ ended }) => ended)));

  const late = once(kept, 'data', deadline());
  kept.write('GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n');
  t.match(String(await late), /^HTTP\/1\.1 503 .*"code":"UNAVAILABLE"/s, 'what comes now is refused');

  const [job] = await sessions.list({});
  await sessions.remove(job?.id ?? '', false);
  t.match((await waiting).json, { status: 'stopped' }, 'what was under way is answered');
  await closing;
});

t.test('A download that is open when the service closes is completed', async (t) => {
  const archive = new PassThrough();
  const gateway = await house.listen({
    sessions: scripted<Sessions>(sessions, {
      artifacts: scripted<Artifacts>(sessions.artifacts, { archive: async () => archive }),
    }),
  });
  const { id } = await house.live();
  archive.write('first, ');
  const download = await fetch(`${gateway.url}/api/sessions/${id}/download`, deadline());
  const closing = gateway.close(20_000);
  archive.end('last');
  t.equal(await download.text(), 'first, last');
  await closing;
});

t.test('Closing cuts what does not end by its deadline', async () => {
  const gateway = await house.listen();
  const body = '{"prompt":"x","maxIterations":0,"flowFiles":["endless.js"]}';
  const socket = await half(
    gateway,
    `POST /api/sessions/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await eventually('the job runs', async () => (await sessions.list({ state: 'running' })).length === 1);
  const closed = over(socket);
  await gateway.close(200);
  await closed;
});

t.test('If a client disconnects before its session is ready, the session is released', async (t) => {
  const gateway = await house.listen();
  const held = house.browsers.startHeld(AbortSignal.timeout(60_000));
  const release = house.browsers.holdStarts();
  t.teardown(release);
  const socket = await half(gateway, 'POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}');
  await held;
  socket.destroy();
  await eventually('the start is given up', () => house.browsers.abandoned === 1);
  await eventually('no session is left of it', async () => (await sessions.list({})).length === 0);
  t.equal(sessions.health().capacity.running, 0, 'nor a place taken');
});

t.test(
  'POST /api/sessions/run answers at the end, or after waitTimeout; a client that disconnects cancels nothing',
  async (t) => {
    const gateway = await house.listen();
    const run = (body: object) =>
      httpCall(gateway.url, { method: 'POST', path: '/api/sessions/run', body: JSON.stringify(body) });
    const task = { prompt: 'x', maxIterations: 0 };
    const done = await run({ ...task, flowFiles: ['quick.js'] });
    t.equal(done.status, 200);
    t.match(done.json, { status: 'completed', state: 'completed' });
    t.notOk('timedOut' in Object(done.json));

    const late = await run({ ...task, flowFiles: ['endless.js'], waitTimeout: 0.05 });
    t.equal(late.status, 200);
    t.match(late.json, { status: /^(queued|running)$/, timedOut: true });

    const body = JSON.stringify({ ...task, flowFiles: ['endless.js'], name: 'left alone' });
    const socket = await half(
      gateway,
      `POST /api/sessions/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const newest = async () => (await sessions.list({ limit: 1 }))[0];
    await eventually('the job runs', async () => {
      const job = await newest();
      return job?.name === 'left alone' && job.status === 'running';
    });
    socket.destroy();
    await over(socket);
    t.match(await newest(), { name: 'left alone', status: 'running' });
  },
);

t.test('DELETE stops a session, repeating it changes nothing, and purge removes it', async (t) => {
  const gateway = await house.listen();
  const { id } = await house.live();
  const path = `/api/sessions/${id}`;
  const remove = (query = '') => httpCall(gateway.url, { method: 'DELETE', path: path + query });
  const read = () => httpCall(gateway.url, { method: 'GET', path });
  t.match(await remove(), { status: 200, json: { id, sessionId: id, status: 'stopped', deleted: true } });
  t.match(await read(), { status: 200, json: { status: 'stopped', endReason: 'deleted' } });
  t.match(await remove(), { status: 200, json: { id, sessionId: id, status: 'stopped', deleted: true } });
  t.match(await remove('?purge=false'), { status: 200 });
  t.match(await read(), { status: 200 });
  t.match(await remove('?purge=yes'), { status: 400, json: { code: 'INVALID_REQUEST' } });
  t.match(await remove('?purge=true'), { status: 200, json: { id, status: 'stopped', deleted: true } });
  t.match(await read(), { status: 404 });
  t.match(await remove(), { status: 404 });
});

t.test('Creates beyond maxSessions wait for createTimeout; then CAPACITY says when to try again', async (t) => {
  const full = await openHouse(t, { maxSessions: 1, createTimeout: 1 });
  const gateway = await full.listen();
  const first = await full.live();
  const create = () => httpCall(gateway.url, { method: 'POST', path: '/api/sessions' });
  t.match(await create(), { status: 429, headers: { 'retry-after': '5' }, json: { code: 'CAPACITY' } });
  await full.sessions.remove(first.id, false);
  t.match(await create(), { status: 201, json: { status: 'running' } });
});

t.test('A connection continues after a body that was too large', async (t) => {
  const gateway = await house.listen();
  const tooLarge = `POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\n${'x'.repeat(2e6)}`;
  const next = 'GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const seen = await rawCall(gateway.url, tooLarge + next, (text) => text.includes('uptimeSeconds'));
  t.match(seen, /^HTTP\/1\.1 413 [\s\S]*BODY_TOO_LARGE[\s\S]*HTTP\/1\.1 200 OK/);
});

t.test('An endless chunked body is refused and cut', async (t) => {
  const gateway = await house.listen();
  const socket = await half(
    gateway,
    'POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n',
  );
  const closed = over(socket);
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(1024 * 1024), Buffer.from('\r\n')]);
  let sent = 0;
  const more = (): void => {
    sent += 1;
    socket.write(chunk, (error) => {
      if (!error) more();
    });
  };
  more();
  await closed;
  t.ok(sent < 100, `${sent} MiB were taken`);
});

t.test('A request head that arrives in pieces may have 12 KiB', async (t) => {
  const gateway = await house.listen();
  const socket = await half(gateway, `GET /api/health HTTP/1.1\r\nHost: localhost\r\nCookie: ${'a'.repeat(6000)}`);
  await new Promise((resolve) => setImmediate(resolve));
  const answered = once(socket, 'data', deadline());
  socket.write('a'.repeat(6000), () => socket.write('\r\n\r\n'));
  t.match(String(await answered), /^HTTP\/1\.1 200 OK/);
  socket.destroy();
});

t.test('Clients that send half a request, or very slowly, are disconnected', async (t) => {
  const gateway = await house.listen();
  const head = 'POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n';
  const sockets = await Promise.all([
    half(gateway, ''),
    half(gateway, 'POST /api/sess'),
    half(gateway, head),
    half(gateway, `${head}\r\n{"name":`),
    half(gateway, 'GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    half(gateway, 'GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /api/health HTTP/1.1\r\nX: '),
    half(gateway, `${head}\r\n`),
    half(gateway, `${head.replace('900000', '9000000')}\r\n`),
  ]);
  const dripping = setInterval(() => sockets.slice(-3).map((socket) => socket.write('x')), 200);
  t.teardown(() => clearInterval(dripping));
  await Promise.all(sockets.map((socket) => over(socket)));
  t.equal((await httpCall(gateway.url, { method: 'GET', path: '/api/health' })).status, 200);
});
