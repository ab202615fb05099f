import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { chooseServer } from '#troupe/gateway/choose-server.js';
import type {
  HttpExchange,
  HttpRequest,
  HttpServer,
  HttpSocket,
  SocketRoute,
} from '#troupe/gateway/http/http-server.js';
import { Reply } from '#troupe/gateway/http/reply.js';
import { NodeConnection } from '#troupe/gateway/node/node-connection.js';
import { eventually } from '../support/eventually.js';
import { rawCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';
import { hasAllCases } from '../support/sampled.js';
import { everyServer } from '../support/tested-server.js';

guardLeaks(t);

const MIB = 1024 * 1024;
const HOST = 'Host: localhost\r\n';
const TYPE = [['Content-Type', 'text/plain']] as const;
const HANDSHAKE = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const deadline = () => ({ signal: AbortSignal.timeout(60_000) });

/** The requests that a test server got, and what it keeps. */
interface Bare {
  readonly server: HttpServer;
  readonly url: string;
  readonly seen: string[];
  readonly sockets: HttpSocket[];
  /** Answers the requests that wait at `/wait`, the oldest first. */
  release(): void;
}

/**
 * A server without a gateway: it answers `METHOD path`, with the body of a request that has one. `/wait` is answered
 * when the test releases it, `/large` with a MiB, `/close` closes the connection.
 */
async function open(t: Test, name: 'uws' | 'node', route: Partial<SocketRoute> = {}): Promise<Bare> {
  const seen: string[] = [];
  const sockets: HttpSocket[] = [];
  const waiting: (() => void)[] = [];
  const { start } = await chooseServer(name);
  const server = await start(
    { host: '127.0.0.1', port: 0 },
    {
      request: (request, line) => {
        const said = `${request.method} ${request.path}`;
        const { path } = request;
        seen.push(said);
        const reply = new Reply(line, { head: request.method === 'HEAD', onOver: () => undefined });
        const end = (text: string) => reply.end({ status: 200, headers: TYPE }, text);
        if (path === '/close') reply.closeAfter();
        if (path === '/said') end(request.header('x-said'));
        if (path === '/wait') {
          reply.onGone(() => seen.push('gone'));
          waiting.push(() => end(said));
        } else if (hasBody(request) && path !== '/large') {
          const chunks: Buffer[] = [];
          reply.onData((chunk, last) => {
            chunks.push(Buffer.from(chunk));
            if (last) end(`${said} ${Buffer.concat(chunks)}`);
          });
        } else {
          end(path === '/large' ? 'x'.repeat(MIB) : path === '/huge' ? 'x'.repeat(32 * MIB) : said);
        }
      },
      sockets: [
        {
          path: '/socket/:name',
          maxMessageBytes: 1000,
          maxUnreadBytes: MIB,
          idleSeconds: 60,
          upgrade: (ask) => {
            seen.push(`socket ${ask.param}`);
            if (ask.param === 'refused') ask.refuse({ status: 403, headers: TYPE }, 'no');
            else ask.accept({});
          },
          open: (socket) => sockets.push(socket),
          message: (socket, message, isText) => {
            if (String(message) === 'end') socket.end(4000, 'ü'.repeat(100));
            else socket.send(message, isText);
          },
          drain: () => undefined,
          close: () => seen.push('socket closed'),
          ...route,
        },
      ],
    },
  );
  t.teardown(() => server.close());
  return { server, url: `http://127.0.0.1:${server.port}`, seen, sockets, release: () => waiting.shift()?.() };
}

function hasBody(request: HttpRequest): boolean {
  return request.header('content-length') !== '' || request.header('transfer-encoding') !== '';
}

/** Sends bytes, and returns the answer up to `end` or the end of the connection. */
const exchange = ({ url }: Bare, bytes: string, end?: string) =>
  rawCall(url, Buffer.from(bytes, 'latin1'), (seen) => end !== undefined && seen.endsWith(end));

function openSocket(bare: Bare, path: string, ...protocols: string[]): WebSocket {
  const socket = new WebSocket(bare.url.replace('http', 'ws') + path, protocols);
  socket.on('error', () => undefined);
  return socket;
}

for (const name of await everyServer()) {
  t.test(`Requests in one packet are answered in their order (${name})`, async (t) => {
    const bare = await open(t, name);
    const seen = await exchange(
      bare,
      `GET /a HTTP/1.1\r\n${HOST}\r\nPOST /b HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\nhiGET /c?d HTTP/1.1\r\n${HOST}\r\n`,
      'GET /c',
    );
    t.match(seen, /200 OK[\s\S]*GET \/a[\s\S]*200 OK[\s\S]*POST \/b hi[\s\S]*200 OK[\s\S]*GET \/c$/);
  });

  t.test(`The first of two headers is read, in any case, and as Latin-1 (${name})`, async (t) => {
    const bare = await open(t, name);
    const headers = 'x-SAID: p\u00e4ssword\r\nX-Said: other\r\n';
    const seen = await exchange(bare, `GET /said HTTP/1.1\r\n${HOST}${headers}\r\n`, 'ssword');
    t.match(Buffer.from(seen, 'latin1').toString(), /\np\u00e4ssword$/);
  });

  t.test(`HEAD declares the length of the answer, and does not send the body (${name})`, async (t) => {
    const bare = await open(t, name);
    const seen = await exchange(bare, `HEAD /a HTTP/1.1\r\n${HOST}\r\n`, '\r\n\r\n');
    t.match(seen, /^HTTP\/1\.1 200 OK\r\n[\s\S]*content-length: 7\r\n/i);
  });

  t.test(`A client that offers HTTP/2 is served like any other, with its body (${name})`, async (t) => {
    const bare = await open(t, name);
    const offer = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
    const length = 'Content-Length: 5\r\n';
    t.match(await exchange(bare, `GET /a HTTP/1.1\r\n${HOST}${offer}\r\n`, 'GET /a'), /200 OK/);
    t.match(await exchange(bare, `POST /b HTTP/1.1\r\n${HOST}${offer}${length}\r\nhello`, 'hello'), /200 OK/);
    const chunked = 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n';
    const slowly = await sent(bare, `POST /c HTTP/1.1\r\n${HOST}${offer}`);
    const answered = once(slowly, 'data', deadline());
    for (const part of [chunked.slice(0, 30), chunked.slice(30, 35), chunked.slice(35)]) {
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => slowly.write(part, resolve));
    }
    t.match(String((await answered)[0]), /200 OK[\s\S]*POST \/c hello$/);
    slowly.destroy();
    const next = `GET /d HTTP/1.1\r\n${HOST}\r\n`;
    const both = await exchange(bare, `POST /c HTTP/1.1\r\n${HOST}${offer}${chunked}${next}`, 'GET /d');
    // Newer versions of Node lose what follows, and the connection is closed.
    t.match(both, /200 OK[\s\S]*(POST \/c hello[\s\S]*200 OK[\s\S]*|[Cc]onnection: close[\s\S]*POST \/c hello)$/);
  });

  t.test(
    `A client that disconnects is reported, before its answer and in the middle of its body (${name})`,
    async (t) => {
      const bare = await open(t, name);
      for (const more of ['\r\n', 'Content-Length: 5\r\n\r\nhe']) {
        const socket = await sent(bare, `POST /wait HTTP/1.1\r\n${HOST}${more}`);
        await eventually('it has arrived', () => bare.seen.at(-1) === 'POST /wait');
        socket.destroy();
        await eventually('it is reported', () => bare.seen.at(-1) === 'gone');
        bare.release();
      }
    },
  );

  t.test(`A body that is not read does not delay the end of its connection (${name})`, async (t) => {
    const bare = await open(t, name);
    const socket = await sent(bare, `POST /wait HTTP/1.1\r\n${HOST}Content-Length: ${8 * MIB}\r\n\r\n`);
    await new Promise((resolve) => socket.write(Buffer.alloc(6 * MIB), resolve));
    socket.destroy();
    await eventually('it is reported', () => bare.seen.at(-1) === 'gone');
  });

  t.test(`A WebSocket has its state, its parameter, the first protocol, and no compression (${name})`, async (t) => {
    const bare = await open(t, name);
    const socket = openSocket(bare, '/socket/a%20b', 'one', 'two');
    await once(socket, 'open', deadline());
    t.same(bare.seen, ['socket a%20b']);
    t.equal(socket.protocol, 'one');
    t.equal(socket.extensions, '');
    socket.send('text');
    t.match(await once(socket, 'message', deadline()), [Buffer.from('text'), false]);
    socket.send(Buffer.from('bytes'));
    t.match(await once(socket, 'message', deadline()), [Buffer.from('bytes'), true]);
    bare.sockets[0]?.subscribe('news');
    bare.server.publish('news', Buffer.from('new'));
    t.match(await once(socket, 'message', deadline()), [Buffer.from('new'), true]);
    bare.sockets[0]?.unsubscribe('news');
    bare.server.publish('news', Buffer.from('old'));
    socket.send('end');
    const [code, reason] = await once(socket, 'close', deadline());
    t.equal(code, 4000);
    t.equal(String(reason), 'ü'.repeat(61), 'a reason that is too long is cut between characters');
    t.same(bare.seen, ['socket a%20b', 'socket closed'], 'once');
  });

  t.test(`A WebSocket message over the limit ends the connection (${name})`, async (t) => {
    const bare = await open(t, name);
    const socket = openSocket(bare, '/socket/a');
    await once(socket, 'open', deadline());
    socket.send(Buffer.alloc(1001));
    await once(socket, 'close', deadline());
    await eventually('it is reported', () => bare.seen.at(-1) === 'socket closed');
  });

  t.test(`A refused WebSocket gets a status, and its connection ends (${name})`, async (t) => {
    const bare = await open(t, name);
    const ask = `GET /socket/refused HTTP/1.1\r\n${HOST}${HANDSHAKE}Sec-WebSocket-Version: 13\r\n\r\n`;
    t.match(await exchange(bare, ask), /^HTTP\/1\.1 403 Forbidden\r\n[\s\S]*\r\n\r\nno$/);
    t.same(bare.sockets, []);
  });

  t.test(
    `A request without a handshake, or for a path without a WebSocket, is an ordinary request (${name})`,
    async (t) => {
      const bare = await open(t, name);
      const requests = [
        `GET /nowhere HTTP/1.1\r\n${HOST}${HANDSHAKE}Sec-WebSocket-Version: 13\r\n\r\n`,
        `GET /socket/a/b HTTP/1.1\r\n${HOST}${HANDSHAKE}Sec-WebSocket-Version: 13\r\n\r\n`,
        `GET /socket/a HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
        `GET /socket/a HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: short\r\n\r\n`,
        `PUT /socket/a HTTP/1.1\r\n${HOST}${HANDSHAKE}Sec-WebSocket-Version: 13\r\n\r\n`,
      ];
      for (const request of requests) {
        const [, said = ''] = /^(\w+ \S+)/.exec(request) ?? [];
        t.match(await exchange(bare, request, said), /^HTTP\/1\.1 200 OK/, request);
      }
      t.same(bare.sockets, []);
    },
  );

  t.test(`A viewer that leaves too much unread is disconnected (${name})`, async (t) => {
    const bare = await open(t, name);
    const socket = openSocket(bare, '/socket/a');
    await once(socket, 'open', deadline());
    socket.pause();
    bare.sockets[0]?.subscribe('news');
    await eventually('it is cut off', () => {
      bare.server.publish('news', Buffer.alloc(MIB));
      return bare.seen.at(-1) === 'socket closed';
    });
    socket.terminate();
  });

  t.test(`Closing cuts every connection, and closing twice changes nothing (${name})`, async (t) => {
    const bare = await open(t, name);
    const idle = await sent(bare, '');
    const waits = await sent(bare, `POST /wait HTTP/1.1\r\n${HOST}\r\n`);
    const socket = openSocket(bare, '/socket/a');
    await once(socket, 'open', deadline());
    await eventually('it has arrived', () => bare.seen.includes('POST /wait'));
    bare.server.stopListening();
    bare.server.stopListening();
    const closed = [
      once(idle, 'close', deadline()),
      once(waits, 'close', deadline()),
      once(socket, 'close', deadline()),
    ];
    bare.server.close();
    bare.server.close();
    await Promise.all(closed);
    await eventually('all are reported', () => ['gone', 'socket closed'].every((what) => bare.seen.includes(what)));
  });
}

/** These tests wait for real deadlines. */
if (hasAllCases) {
  for (const name of await everyServer()) {
    t.test(
      `A client that takes nothing of a complete answer is disconnected, a slow one is not (${name})`,
      async (t) => {
        const bare = await open(t, name);
        const asleep = connect(bare.server.port, '127.0.0.1');
        asleep.on('error', () => undefined).pause();
        asleep.write(`GET /huge HTTP/1.1\r\n${HOST}\r\n`);
        let bytes = 0;
        const slow = await sent(bare, `GET /huge HTTP/1.1\r\n${HOST}\r\n`);
        slow.on('data', (chunk) => {
          bytes += chunk.byteLength;
          slow.pause();
          setTimeout(() => slow.resume(), 15);
        });
        await eventually('it is let go of', async () => (await established(bare)) === 1);
        await eventually('the other gets all', () => bytes > 32 * MIB);
        asleep.destroy();
        slow.destroy();
      },
    );

    t.test(
      `A WebSocket client that does not answer pings is disconnected, one that only listens is not (${name})`,
      async (t) => {
        const bare = await open(t, name, { idleSeconds: 8 });
        const [dead, alive] = [openSocket(bare, '/socket/dead'), openSocket(bare, '/socket/alive')];
        await Promise.all([once(dead, 'open', deadline()), once(alive, 'open', deadline())]);
        dead.pause();
        await eventually('it is cut off', () => bare.seen.includes('socket closed'));
        await new Promise((resolve) => setTimeout(resolve, 10_000));
        t.equal(alive.readyState, WebSocket.OPEN);
        t.equal(bare.seen.filter((seen) => seen === 'socket closed').length, 1);
        alive.send('text');
        t.match(await once(alive, 'message', deadline()), [Buffer.from('text'), false]);
        for (const socket of [dead, alive]) socket.terminate();
      },
    );
  }
}

async function sent(bare: Bare, text: string): Promise<Socket> {
  const socket = connect(bare.server.port, '127.0.0.1');
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect', deadline());
  socket.write(text);
  return socket;
}

t.test(
  'Between two requests node:http keeps a connection for 75 s, and gives the head of a request 10 s',
  async (t) => {
    const taken: { readonly line: NodeConnection; readonly socket: Socket }[] = [];
    const http = createServer((req, res) =>
      taken.find(({ socket }) => socket === req.socket)?.line.take({ req, res, holdsBodyBack: false }),
    );
    http.keepAliveTimeout = 0;
    http.on('connection', (socket) => {
      const request = (_: HttpRequest, line: HttpExchange) =>
        new Reply(line, { head: false, onOver: () => undefined }).end({ status: 200, headers: TYPE }, 'answered');
      taken.push({ socket, line: new NodeConnection(socket, { request, sockets: [] }) });
    });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const clients: Socket[] = [];
    t.teardown(() => {
      for (const socket of clients) socket.destroy();
      http.close();
    });
    const address = http.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const enter = async () => {
      const client = connect(port, '127.0.0.1').on('error', () => undefined);
      clients.push(client);
      await once(client, 'connect', deadline());
      await eventually('it is taken', () => taken.length === clients.length);
      const last = taken.at(-1);
      if (last === undefined) throw new Error('No connection');
      const { line, socket } = last;
      return {
        client,
        ask: async () => {
          client.write(`GET /a HTTP/1.1\r\n${HOST}\r\n`);
          t.match(String(await once(client, 'data', deadline())), /answered/);
        },
        socket,
        /** Whether the connection is open after a check at this time, in milliseconds. */
        isOpenAt: (at: number) => {
          line.checkDeadlines(at);
          return !socket.destroyed;
        },
      };
    };
    const silent = await enter();
    t.same([0, 9_999, 10_000].map(silent.isOpenAt), [true, true, false], 'no request');
    const idle = await enter();
    await idle.ask();
    t.same([0, 74_999].map(idle.isOpenAt), [true, true], 'an answered one');
    await idle.ask();
    t.same([75_000, 149_999, 150_000].map(idle.isOpenAt), [true, true, false], 'once more');
    const slow = await enter();
    await slow.ask();
    t.ok(slow.isOpenAt(0));
    const { bytesRead } = slow.socket;
    slow.client.write('GET /a HT');
    await eventually('a part of the next request arrives', () => slow.socket.bytesRead > bytesRead);
    t.same([60_000, 69_999, 70_000].map(slow.isOpenAt), [true, true, false], 'a request that began');
  },
);

/** What node:http would answer by itself, or not at all. uWebSockets.js has answers of its own. */
t.test('Requests that node:http rejects get the usual error answer', async (t) => {
  const bare = await open(t, 'node');
  const get = (more: string) => `GET /a HTTP/1.1\r\n${HOST}${more}\r\n`;
  const cases: { readonly [what: string]: readonly [bytes: string, status: number] } = {
    'data that is not HTTP': ['hello\r\n\r\n', 400],
    'an unknown method': [`FETCH /a HTTP/1.1\r\n${HOST}\r\n`, 400],
    'an older version': [`GET /a HTTP/1.0\r\n${HOST}\r\n`, 505],
    'a newer version': [`GET /a HTTP/2.0\r\n${HOST}\r\n`, 505],
    'a proxy': [`CONNECT localhost:80 HTTP/1.1\r\n${HOST}\r\n`, 400],
    'two lengths': [get('Content-Length: 1\r\nContent-Length: 2\r\n'), 400],
    'a chunk that is none': [`POST /b HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nx\r\n`, 400],
    'a long head': [get(`X: ${'x'.repeat(17_000)}\r\n`), 431],
    'a long address': [`GET /${'x'.repeat(17_000)} HTTP/1.1\r\n${HOST}\r\n`, 431],
    'many headers': [get('X: x\r\n'.repeat(98)), 431],
    'more headers than node:http keeps': [get(`${'X:\r\n'.repeat(2100)}Host: evil.test\r\n`), 431],
    'a WebSocket of another version': [
      `GET /socket/a HTTP/1.1\r\n${HOST}${HANDSHAKE}Sec-WebSocket-Version: 8\r\n\r\n`,
      400,
    ],
    'a WebSocket with a body': [
      `GET /socket/a HTTP/1.1\r\n${HOST}${HANDSHAKE}Sec-WebSocket-Version: 13\r\nContent-Length: 2\r\n\r\nhi`,
      400,
    ],
    'a WebSocket whose protocols are none': [
      `GET /socket/a HTTP/1.1\r\n${HOST}${HANDSHAKE}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: a,,b\r\n\r\n`,
      400,
    ],
  };
  for (const [what, [bytes, status]] of Object.entries(cases)) {
    const seen = await exchange(bare, bytes);
    const [head = '', body = ''] = seen.split('\r\n\r\n');
    t.match(head, new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*nosniff[\\s\\S]*Connection: close`), what);
    t.match(JSON.parse(body), { code: 'INVALID_REQUEST', error: /^[A-Z].{10}/ }, what);
  }
  t.same(bare.sockets, []);
});

t.test('node:http answers the request before one that it cannot parse, and handles nothing after it', async (t) => {
  const bare = await open(t, 'node');
  const get = (path: string) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`;
  const broken = exchange(bare, `${get('/wait')}hello\r\n\r\n${get('/b')}`);
  await eventually('it has arrived', () => bare.seen.length === 1);
  bare.release();
  t.match(await broken, /200 OK[\s\S]*GET \/wait$/);
  t.match(await exchange(bare, get('/a') + get('/close') + get('/b')), /GET \/close$/);
  t.match(await exchange(bare, `${get('/large')}hello\r\n\r\n`), /x{1048576}(HTTP\/1\.1 400 [\s\S]*)?$/);
  t.same(bare.seen, ['GET /wait', 'GET /a', 'GET /close', 'GET /large']);
});

t.test('Of the requests that one client sends at once, node:http handles one and queues 64', async (t) => {
  const bare = await open(t, 'node');
  const get = (path: string) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`;
  const some = exchange(bare, get('/wait') + get('/large') + get('/c').repeat(63), 'GET /c');
  await eventually('it has arrived', () => bare.seen.length === 1);
  bare.release();
  t.match(await some, /^HTTP[\s\S]*GET \/wait[\s\S]*x[\s\S]*GET \/c$/);
  const seen = bare.seen.length;
  t.equal(await exchange(bare, get('/wait') + get('/b').repeat(65)), '', 'more are cut off');
  t.same(bare.seen.slice(seen), ['GET /wait', 'gone']);
  const socket = `GET /socket/a HTTP/1.1\r\n${HOST}${HANDSHAKE}Sec-WebSocket-Version: 13\r\n\r\n`;
  t.equal(await exchange(bare, get('/wait') + socket), '', 'and so is a WebSocket behind an answer that is to come');
  t.same(bare.sockets, []);
});

t.test('A client that expects 100 Continue gets it, or its connection is closed', async (t) => {
  const bare = await open(t, 'node');
  const post = (path: string) => `POST ${path} HTTP/1.1\r\n${HOST}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n`;
  const socket = await sent(bare, post('/a'));
  t.match(String((await once(socket, 'data', deadline()))[0]), /^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  socket.write('hi');
  t.match(String((await once(socket, 'data', deadline()))[0]), /200 OK[\s\S]*POST \/a hi$/);
  socket.destroy();
  t.match(await exchange(bare, post('/large')), /^HTTP\/1\.1 200 OK[\s\S]*Connection: close/, 'nobody reads it');
  const other = `GET /a HTTP/1.1\r\n${HOST}Expect: miracles\r\n\r\n`;
  t.match(await exchange(bare, other, 'GET /a'), /200 OK/);
});

/** The open connections of this process as the server. */
async function established({ server }: Bare): Promise<number> {
  const port = server.port.toString(16).toUpperCase().padStart(4, '0');
  const lines = (await readFile('/proc/net/tcp', 'latin1')).split('\n');
  return lines.filter((line) => line.includes(`0100007F:${port} 0100007F:`) && / 01 /.test(line.slice(30, 40))).length;
}
