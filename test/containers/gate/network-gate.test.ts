import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { NetworkGate } from '#troupe/containers/gate/network-gate.js';
import { parseAddress } from '#troupe/net-policy/address.js';
import { ClosedPorts } from '#troupe/net-policy/closed-ports.js';
import { NO_RULES } from '../../support/egress-setting.js';
import { guardLeaks } from '../../support/leaks.js';
import { inTime, openFolder } from '../driver-fixture.js';

guardLeaks(t);

/** What a server that answers with what it is sent listens on. */
async function echoPort(t: Test): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => undefined).pipe(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function gateFixture(t: Test, ownPort = 1) {
  const folder = openFolder(t);
  const path = join(folder, 'net');
  const gate = new NetworkGate({ ...NO_RULES, ownPort }, (line) => t.comment(line));
  t.teardown(() => gate.close('lease'));
  await gate.open('lease', { madeAt: join(folder, 'made'), path }, { kind: 'socks' });
  return { gate, path };
}

/** A SOCKS 5 client: the reply's code, and the connection behind it. */
async function ask(path: string, host: string, port: number): Promise<{ reply: number | undefined; socket: Socket }> {
  const socket = connect(path);
  await once(socket, 'connect');
  const name = Buffer.from(host);
  socket.write(Buffer.from([5, 1, 0]));
  socket.write(Buffer.from([5, 1, 0, 3, name.length, ...name, port >> 8, port & 255]));
  let got = Buffer.alloc(0);
  while (got.length < 12) {
    const [chunk]: Buffer[] = await inTime(once(socket, 'data'));
    got = Buffer.concat([got, chunk ?? Buffer.alloc(0)]);
  }
  return { reply: got[3], socket };
}

t.test('Nothing that the process was started with is loaded into the thread', async (t) => {
  const preload = `data:text/javascript,import { writeSync } from 'node:fs'; writeSync(1, 'loaded ');`;
  const made = join(openFolder(t), 'made');
  const code = `const { NetworkGate } = await import(${JSON.stringify(new URL('../../../dist/containers/gate/network-gate.js', import.meta.url))});
    const setting = ${JSON.stringify(NO_RULES)};
    const gate = new NetworkGate(setting, console.log);
    await gate.open('lease', { madeAt: '${made}', path: '${made}.socket' }, { kind: 'socks' });
    await gate.close('lease');`;
  const words = [`--import=${preload}`, '--input-type=module', '--eval', code];
  const { stdout } = await promisify(execFile)(process.execPath, words, { timeout: 60_000 });
  t.equal(stdout, 'loaded ');
});

t.test('A forwarded port of loopback is reached through the gate, with every byte in both directions', async (t) => {
  const { gate, path } = await gateFixture(t);
  const port = await echoPort(t);
  gate.permit('lease', { forward: [port], egress: {} });
  const { reply, socket } = await ask(path, 'localhost', port);
  t.equal(reply, 0);
  const sent = Buffer.alloc(3_000_000, 'abcdefg');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.end(sent);
  await inTime(once(socket, 'close'));
  t.ok(Buffer.concat(chunks).equals(sent));
});

t.test('What the rules close, and what nobody answers at, is told apart', async (t) => {
  const port = await echoPort(t);
  const { gate, path } = await gateFixture(t, port);
  const free = createServer();
  await once(free.listen(0, '127.0.0.1'), 'listening');
  const address = free.address();
  const unused = typeof address === 'object' && address !== null ? address.port : 0;
  await new Promise((resolve) => free.close(resolve));
  gate.permit('lease', { forward: [port, unused], egress: { deny: ['denied.test'] } });
  for (const [host, at, expected] of [
    ['localhost', port, 2],
    ['127.0.0.1', 22, 2],
    ['169.254.169.254', 80, 2],
    ['denied.test', 80, 2],
    ['localhost', unused, 4],
    // A name that no resolver asks anyone about: its label is too long.
    [`${'a'.repeat(70)}.test`, 80, 4],
  ] as const) {
    const { reply, socket } = await ask(path, host, at);
    t.equal(reply, expected, host.slice(0, 20));
    socket.destroy();
  }
});

t.test('Who speaks no SOCKS is cut, and the gate goes on', async (t) => {
  const { gate, path } = await gateFixture(t);
  const port = await echoPort(t);
  gate.permit('lease', { forward: [port], egress: {} });
  for (const said of ['GET / HTTP/1.1\r\n\r\n', '\x05\x01\x00\x05\x02\x00\x01', '\x05', `\x05${'\xff'.repeat(700)}`]) {
    const socket = connect(path);
    socket.on('error', () => undefined);
    socket.end(Buffer.from(said, 'latin1'));
    socket.resume();
    await inTime(once(socket, 'close'));
  }
  const { reply, socket } = await ask(path, 'localhost', port);
  t.equal(reply, 0);
  socket.destroy();
});

t.test('A closed door cuts what passes through it', async (t) => {
  const { gate, path } = await gateFixture(t);
  const port = await echoPort(t);
  gate.permit('lease', { forward: [port], egress: {} });
  const { socket } = await ask(path, 'localhost', port);
  const closed = once(socket.resume(), 'close');
  await gate.close('lease');
  await inTime(closed);
  await t.rejects(ask(path, 'localhost', port));
});

t.test('What is closed later is cut, also while it is being used, and what stays open is not', async (t) => {
  const folder = openFolder(t);
  const path = join(folder, 'net');
  const ports = new ClosedPorts();
  const setting = { ownPort: 1, ownNames: [], hostAddress: null, forward: [], egress: {}, loopback: 'open' } as const;
  const gate = new NetworkGate({ ...setting, closedPorts: ports.shared }, (line) => t.comment(line));
  ports.watch(() => gate.recheck());
  t.teardown(() => gate.close('lease'));
  await gate.open('lease', { madeAt: join(folder, 'made'), path }, { kind: 'socks' });
  const address = parseAddress('127.0.0.1');
  if (address === null) throw new Error('No address');
  const open = await ask(path, 'localhost', await echoPort(t));
  for (const [what, close] of [
    ['a node', (port: number) => ports.closeTargets([{ address, port }])],
    ['a port of this machine', (port: number) => ports.add(port)],
  ] as const) {
    const port = await echoPort(t);
    const { socket } = await ask(path, '127.0.0.1', port);
    socket.on('error', () => undefined).write('before');
    const [echo]: Buffer[] = await inTime(once(socket, 'data'));
    t.equal(String(echo), 'before', what);
    const cut = once(socket.resume(), 'close');
    close(port);
    await inTime(cut);
    t.equal((await ask(path, '127.0.0.1', port)).reply, 2, what);
  }
  open.socket.write('still');
  const [echo]: Buffer[] = await inTime(once(open.socket, 'data'));
  t.equal(String(echo), 'still');
  open.socket.destroy();
});
