import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, Server as HttpServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import { type AddressInfo, createServer as createRawServer, type Server } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import type { PreparedRequest } from '#request-client/engine/run/prepared-request.js';
import { HttpSender } from '#request-client/engine/run/send-request.js';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { SELF_SIGNED } from './self-signed.js';

guardLeaks(t);
const sender = new HttpSender();
const servers: Server[] = [];
// Connections first: a server waits for its last one.
t.teardown(async () => {
  sender.close();
  for (const server of servers) {
    if (server instanceof HttpServer || server instanceof TlsServer) server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  servers.push(server);
  return (server.address() as AddressInfo).port;
}
const answering = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  const port = await portOf(server);
  return `http://127.0.0.1:${port}`;
};
const request = (url: string, more: Partial<PreparedRequest> = {}): PreparedRequest => ({
  method: 'GET',
  url,
  headers: [],
  withoutHeaders: [],
  body: { kind: 'none' },
  settings: { followRedirects: true, verifyTls: true, encodeUrl: true },
  ...more,
});
const bounds = { timeoutMs: 30_000, folder: '.' };

t.test(
  'a large body is sent and received without being held in memory, and its file is removed with the answer',
  async (t) => {
    const size = 24 * 1024 * 1024;
    const origin = await answering((incoming, response) => void incoming.pipe(response));
    const folder = t.testdir({ 'big.bin': Buffer.alloc(size, 'abcdefgh') });
    const sent = request(origin, { method: 'POST', body: { kind: 'file', path: 'big.bin', withoutNewlines: false } });
    const response = await sender.send(sent, { ...bounds, folder });
    t.equal(response.bodyBytes, size);
    const { body } = response;
    if (body.kind !== 'file') throw new Error('it was held in memory');
    const digest = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
    t.equal(digest(body.path), digest(join(folder, 'big.bin')));
    await response.dispose();
    t.equal(existsSync(body.path), false);
  },
);

/** Answers with zeros, compressed a thousand times. */
function packedZeros(bytes: number): RequestListener {
  const packed = gzipSync(Buffer.alloc(bytes));
  return (_incoming, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
}

t.test('a body that exceeds the limit when decoded is rejected while it arrives, and its file removed', async (t) => {
  const folder = t.testdir({});
  const { TMPDIR } = process.env;
  process.env.TMPDIR = folder;
  t.teardown(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });
  const origin = await answering(packedZeros(24 * 1024 * 1024));
  for (const maxBodyBytes of [1, 2 * 1024 * 1024, 16 * 1024 * 1024, 24 * 1024 * 1024 - 1]) {
    await t.rejects(
      sender.send(request(origin), { ...bounds, maxBodyBytes }),
      { code: 'REQUEST_FAILED', message: `${maxBodyBytes} bytes`, details: { cause: 'TOO_LARGE' } },
      `${maxBodyBytes}`,
    );
    t.same(readdirSync(folder), [], 'nothing is left');
  }
  const whole = await sender.send(request(origin), { ...bounds, maxBodyBytes: 24 * 1024 * 1024 });
  t.equal(whole.bodyBytes, 24 * 1024 * 1024);
  await whole.dispose();
  t.same(readdirSync(folder), []);
});

t.test('an endless answer is rejected, and its connection closed', async (t) => {
  let sent = 0;
  const closed = new Promise<void>((resolve) => {
    answering((_incoming, response) => {
      const block = Buffer.alloc(256 * 1024);
      const more = () => {
        for (let room = true; room && sent < 128 * 1024 * 1024; sent += block.length) room = response.write(block);
      };
      response.on('drain', more).once('close', resolve);
      more();
    }).then(async (origin) => {
      const sending = sender.send(request(origin), { ...bounds, maxBodyBytes: 8 * 1024 * 1024 });
      await t.rejects(sending, { code: 'REQUEST_FAILED', details: { cause: 'TOO_LARGE' } });
    }, t.error);
  });
  await closed;
  t.ok(sent < 100 * 1024 * 1024, `the server had sent ${sent} bytes`);
});

t.test('The body of a redirect or an authentication challenge may be endless: the request continues', async (t) => {
  const block = Buffer.alloc(256 * 1024);
  for (const [kind, status, header] of [
    ['a redirect', 302, { location: '/whole' }],
    ['a demand', 401, { 'www-authenticate': 'Digest realm="r", nonce="n", qop="auth"' }],
  ] as const) {
    let sent = 0;
    let closed: Promise<unknown> = Promise.resolve();
    const origin = await answering((incoming, response) => {
      if (incoming.url === '/whole' || incoming.headers.authorization !== undefined) return void response.end('whole');
      response.writeHead(status, header);
      const more = () => {
        for (let room = true; room && sent < 512 * 1024 * 1024; sent += block.length) room = response.write(block);
        if (sent >= 512 * 1024 * 1024) response.end();
      };
      closed = once(response.on('drain', more), 'close');
      more();
    });
    const auth = { kind: 'digest', username: 'ada', password: 'secret' } as const;
    const response = await sender.send(request(origin, { auth }), bounds);
    t.equal(response.status, 200, kind);
    await response.dispose();
    await closed;
    t.ok(sent < 64 * 1024 * 1024, `${sent} bytes of ${kind} were taken`);
  }
});

t.test('a redirect adds a Referer if the request says so, without a login and a fragment', async (t) => {
  const heard: (string | undefined)[] = [];
  const origin = await answering((incoming, response) => {
    heard.push(incoming.headers.referer);
    if (incoming.url === '/from?a=1') response.writeHead(302, { location: '/to' });
    response.end();
  });
  const from = `${origin.replace('://', '://u:p@')}/from?a=1#top`;
  const settings = { followRedirects: true, verifyTls: true, encodeUrl: true };
  for (const addReferer of [false, true]) {
    const own = addReferer ? [{ name: 'Referer', value: 'http://own.example/' }] : [];
    const answer = await sender.send(request(from, { headers: own, settings: { ...settings, addReferer } }), bounds);
    await answer.dispose();
  }
  t.strictSame(heard, [undefined, undefined, 'http://own.example/', `${origin}/from?a=1`]);
});

t.test('credentials are not sent to another origin after a redirect', async (t) => {
  let seen: unknown;
  const other = await answering((incoming, response) => {
    seen = incoming.headers;
    response.end();
  });
  const origin = await answering((_incoming, response) => void response.writeHead(302, { location: other }).end());
  const headers = [
    { name: 'Authorization', value: 'Bearer secret' },
    { name: 'Cookie', value: 'a=b' },
    { name: 'X-Kept', value: 'é' },
  ];
  const response = await sender.send(request(origin, { headers }), bounds);
  t.strictSame(
    response.redirects.map(({ status }) => status),
    [302],
  );
  t.match(seen, { 'x-kept': 'Ã©', authorization: undefined, cookie: undefined });
});

t.test('a cancellation and a time limit end a request', async (t) => {
  const origin = await answering(() => undefined);
  const cancel = new AbortController();
  const sent = sender.send(request(origin), { ...bounds, signal: cancel.signal });
  cancel.abort(new Error('enough'));
  await t.rejects(async () => void (await sent), { message: 'enough' });
  await t.rejects(async () => void (await sender.send(request(origin), { ...bounds, timeoutMs: 300 })), {
    code: 'WAIT_TIMEOUT',
  });
});

t.test('failures are explained', async (t) => {
  const tls = createTlsServer(SELF_SIGNED, (_incoming, response) => void response.end('safe'));
  const tlsPort = await portOf(tls);
  const plain = (await answering((_incoming, response) => void response.end())).replace('http:', 'https:');
  const silent = createRawServer(
    (socket) => void socket.on('error', () => undefined).end('SSH-2.0-x\r\n', () => void socket.destroy()),
  );
  const silentPort = await portOf(silent);
  const longRecord = createRawServer(
    (socket) => void socket.on('error', () => undefined).once('data', () => void socket.end('\x16\x03\x01P/x')),
  );
  const longRecordPort = await portOf(longRecord);
  for (const [url, says] of [
    [
      `https://127.0.0.1:${tlsPort}/`,
      /self-signed; trust it \(--ca, or a CA file in the settings\), or turn certificate checks off/,
    ],
    [plain, /does not speak TLS on this port/],
    [`https://127.0.0.1:${longRecordPort}/`, /does not speak TLS on this port/],
    [`http://127.0.0.1:${silentPort}/`, /is not HTTP/],
    ['http://127.0.0.1:1/', /nothing is listening there/],
    ['ftp://h/', /ftp:\/\/ is not supported/],
    ['http:///x', /it has no host/],
    ['http://h:99999/', /host or port is wrong/],
  ] as const) {
    await t.rejects(
      async () => void (await sender.send(request(url), bounds)),
      { code: 'REQUEST_FAILED', message: says },
      url,
    );
  }
  const settings = { followRedirects: true, verifyTls: false, encodeUrl: true };
  const trusted = await sender.send(request(`https://127.0.0.1:${tlsPort}/`, { settings }), bounds);
  t.match(trusted, { status: 200, body: { bytes: Buffer.from('safe') } });
});
