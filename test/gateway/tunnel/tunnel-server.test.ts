import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { WebSocket } from 'ws';
import type { FrameRequest, ScreenFrame } from '#troupe/session/screen.js';
import { eventually } from '../../support/eventually.js';
import { openHouse, scripted } from '../../support/house.js';
import { httpCall } from '../../support/http-call.js';
import { guardLeaks } from '../../support/leaks.js';
import { StreamClient } from '../../support/stream-client.js';

guardLeaks(t);

const MIB = 1024 * 1024;
const house = await openHouse(t);
const { sessions, browsers } = house;
const authorization = 'Bearer correct-horse';
/** Large pictures, as fast as they are requested. */
const nextFrame = async (_: string, { after }: FrameRequest): Promise<ScreenFrame> => {
  return { number: after + 1, jpeg: new Uint8Array(MIB).fill(after + 1, 0, 1), width: 4, height: 3 };
};
const gateway = await house.listen({ token: 'correct-horse', sessions: scripted(sessions, { nextFrame }) });
/** The desktop of all sessions, one after another. */
const folder = mkdtempSync(join(tmpdir(), 'rfb-'));
const socketPath = join(folder, 's');
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
browsers.desktopSocket = socketPath;
const { id } = await house.live();
browsers.desktopSocket = undefined;
const { id: bare } = await house.live();
const socketUrl = gateway.url.replace('http', 'ws');

/** A desktop of the test, behind a unix socket, with a handler for its one client. */
async function desktop(t: { teardown(work: () => unknown): void }, serve: (client: Socket) => void): Promise<void> {
  const server = createServer((client) => {
    client.on('error', () => undefined);
    serve(client);
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
}

async function openDesktop(): Promise<WebSocket> {
  const socket = new WebSocket(`${socketUrl}/sessions/${id}/desktop`, { headers: { authorization } });
  await once(socket, 'open', { signal: AbortSignal.timeout(60_000) });
  socket.pause();
  return socket;
}

t.test('If a client does not read, the other end is not read, and everything arrives in order later', async (t) => {
  const chunks = 256;
  let taken = 0;
  await desktop(t, (client) => {
    const write = (next: number): void => {
      if (next === chunks) return void client.end();
      client.write(Buffer.alloc(MIB / 4, next), () => {
        taken += 1;
        write(next + 1);
      });
    };
    write(0);
  });
  const socket = await openDesktop();
  let bytes = 0;
  let inOrder = true;
  socket.on('message', (data: Buffer) => {
    for (let at = 0; at < data.length; at += 1) inOrder &&= data[at] === Math.floor((bytes + at) / (MIB / 4)) % 256;
    bytes += data.length;
  });
  let before = -1;
  let steady = 0;
  await eventually('the desktop has to wait', () => {
    steady = taken === before && taken > 0 ? steady + 1 : 0;
    before = taken;
    return steady > 25;
  });
  t.ok(taken < chunks / 2, `${taken / 4} of ${chunks / 4} MiB were taken`);
  const closed = once(socket, 'close');
  socket.resume();
  t.equal((await closed)[0], 1000);
  t.equal(bytes, chunks * (MIB / 4));
  t.ok(inOrder);
});

t.test(
  'A client that does not send RFB is disconnected, and so is the desktop of a client that disconnects',
  async (t) => {
    let gone = false;
    await desktop(t, (client) => client.resume().on('close', () => (gone = true)));
    const socket = await openDesktop();
    const closed = once(socket, 'close');
    socket.resume();
    socket.send('no key');
    t.equal((await closed)[0], 1008);
    await eventually('the desktop is let go of', () => gone);
    const other = await openDesktop();
    const end = once(other, 'close');
    other.resume();
    other.send(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
    const [code, reason] = await end;
    t.match([code, String(reason)], [1008, /RFB/]);
  },
);

t.test('A viewer that reads nothing skips pictures instead of having them kept', async (t) => {
  const headers = { authorization };
  const [asleep, awake] = [
    await StreamClient.open(gateway.url, headers),
    await StreamClient.open(gateway.url, headers),
  ];
  for (const client of [asleep, awake]) client.ask({ type: 'watchScreen', id, pace: 'live' });
  await asleep.until(() => asleep.of('frame').length > 0);
  asleep.socket.pause();
  let seen = 0;
  await awake.until(() => {
    seen += awake.of('frame').length;
    awake.messages.splice(0);
    return seen > 100;
  });
  asleep.socket.resume();
  // A few MiB were on their way to it; what follows them is a much later picture.
  const numbers = () => asleep.of('frame').map(({ jpeg }) => jpeg[0] ?? 0);
  const skips = (all: readonly number[]) =>
    all.some((at, index) => index > 0 && (at - (all[index - 1] ?? 0) + 256) % 256 > 30);
  await asleep.until(() => skips(numbers()));
  t.ok(numbers().length < 70, `of 100 pictures it got ${numbers().length}`);
  await Promise.all([asleep.close(), awake.close()]);
});

t.test('Of many connections none is dropped, and messages sent at once arrive', async (t) => {
  await desktop(t, (client) => client.pipe(client));
  for (let round = 0; round < 60; round += 1) {
    const socket = new WebSocket(`${socketUrl}/sessions/${id}/desktop`, { headers: { authorization } });
    socket.once('open', () => socket.send(Buffer.from('RFB 003.008\n')));
    const [echo] = await once(socket, 'message', { signal: AbortSignal.timeout(60_000) });
    t.equal(String(echo), 'RFB 003.008\n');
    const closed = once(socket, 'close');
    socket.close();
    await closed;
  }
});

t.test('A tunnel that is not opened gets a status; one that is ended gets a reason', async (t) => {
  const outcome = async (path: string): Promise<string> => {
    const socket = new WebSocket(socketUrl + path, { headers: { authorization } });
    const failed = once(socket, 'error').then(([error]) => String(error));
    return Promise.race([failed, once(socket, 'close').then(([code, reason]) => `${code} ${reason}`)]);
  };
  t.match(await outcome('/sessions/zzzzzzzzzzzz/desktop'), /404/);
  t.match(await outcome(`/sessions/${bare}/desktop`), /404/, 'it has none');
  const ended = (await house.live()).id;
  await sessions.remove(ended, false);
  t.match(await outcome(`/sessions/${ended}/cdp`), /409/);
  t.match(await outcome(`/sessions/${id}/desktop`), /^1011 .*desktop/, 'nobody answers there');
});

t.test('Every WebSocket refuses unauthorized clients', async (t) => {
  const made = await httpCall(gateway.url, {
    method: 'POST',
    path: '/api/tokens',
    headers: { authorization },
    body: '{"name": "looks", "role": "view"}',
  });
  const looks = `Bearer ${Object(made.json).token}`;
  for (const path of ['/api/stream', `/sessions/${id}/desktop`, `/sessions/${id}/cdp`]) {
    const refused = async (headers: { [name: string]: string }) => {
      const socket = new WebSocket(socketUrl + path, { headers });
      const [error] = await once(socket, 'error', { signal: AbortSignal.timeout(60_000) });
      return Number(/\d+$/.exec(String(error))?.[0]);
    };
    t.equal(await refused({}), 401, path);
    t.equal(await refused({ authorization: 'Bearer wrong' }), 401, path);
    t.equal(await refused({ authorization, origin: 'http://evil.test' }), 403, path);
    t.equal(await refused({ authorization, origin: `http://127.0.0.1:${gateway.port + 1}` }), 403, path);
    t.equal(await refused({ authorization, host: 'evil.test' }), 403, path);
    if (path.endsWith('/cdp')) t.equal(await refused({ authorization: looks }), 403, path);
  }
});
