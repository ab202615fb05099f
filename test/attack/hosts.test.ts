import { connect } from 'node:net';
import t, { type Test } from 'tap';
import type { ServerName } from '#troupe/gateway/http/http-server.js';
import type { Gateway } from '#troupe/gateway/server.js';
import type { Flows } from '#troupe/supervisor/ports/flows.js';
import type { Sessions } from '#troupe/supervisor/ports/sessions.js';
import { openHouse, scripted } from '../support/house.js';
import { httpCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';
import { everyServer } from '../support/tested-server.js';

guardLeaks(t);

const house = await openHouse(t);
/** Each answers by itself what is no HTTP. */
const servers = await everyServer();

/** The status of GET /api/health with these headers; `PORT` in them is the gateway's. */
async function statusWith(gateway: Gateway, headers: { [name: string]: string }): Promise<number> {
  const filled = Object.entries(headers).map(([name, value]) => [name, value.replace('PORT', String(gateway.port))]);
  const all = { authorization: 'Bearer x', ...Object.fromEntries(filled) };
  return (await httpCall(gateway.url, { method: 'GET', path: '/api/health', headers: all })).status;
}

const HOSTS: { readonly [host: string]: number } = {
  'localhost:PORT': 200,
  'LOCALHOST:1': 200,
  '127.0.0.1:PORT': 200,
  '[::1]:PORT': 200,
  localhost: 200,
  'farm.test': 200,
  'FARM.test': 200,
  'farm.test:99': 200,
  'ci.test:8080': 200,
  'troupe.test': 200,
  'troupe.test:443': 200,
  'ci.test': 403,
  'ci.test:8081': 403,
  'troupe.test:80': 403,
  'troupe.test:8443': 403,
  'evil.test': 403,
  'localhost.evil.test': 403,
  'evil.test:PORT': 403,
  'localhost@evil.test': 403,
  'evil.test@localhost': 403,
  'localhost:': 403,
  'localhost:x': 403,
  'localhost:123456': 403,
  'localhost:1:2': 403,
  'localhost,evil.test': 403,
  'localhost evil.test': 403,
  'localhost/evil': 403,
  'localhost#': 403,
  'localhost?': 403,
  'localhost\\evil': 403,
  'localhost.': 403,
  '127.0.0.1.evil.test': 403,
  '127.0.0.2': 403,
  '127.1': 403,
  '0x7f000001': 403,
  '2130706433': 403,
  '0177.0.0.1': 403,
  '0.0.0.0': 403,
  '::1': 403,
  '[::ffff:127.0.0.1]': 403,
  '[0:0:0:0:0:0:0:1]': 403,
  '[::1': 403,
  '[::1]evil': 403,
  'farm.test.evil.test': 403,
  'evilfarm.test': 403,
  'x.farm.test': 403,
  'http://localhost': 403,
};

const ORIGINS: { readonly [origin: string]: number } = {
  'http://localhost:PORT': 200,
  'http://127.0.0.1:PORT': 200,
  'http://[::1]:PORT': 200,
  'HTTP://LOCALHOST:PORT': 200,
  'https://troupe.test': 200,
  'https://troupe.test:443': 200,
  'http://farm.test:3000': 200,
  'http://localhost:3000': 403,
  'http://127.0.0.1:3000': 403,
  'https://127.0.0.1:1': 403,
  'http://localhost': 403,
  'https://localhost': 403,
  'https://evil.test': 403,
  'http://troupe.test': 403,
  'https://troupe.test:8443': 403,
  'https://troupe.test.evil.test': 403,
  'https://eviltroupe.test': 403,
  'https://x.troupe.test': 403,
  'https://troupe.test@evil.test': 403,
  'https://evil.test@troupe.test': 403,
  'https://troupe.test/': 403,
  'https://troupe.test/path': 403,
  'https://troupe.test?': 403,
  'https://troupe.test#': 403,
  'https://troupe.test https://evil.test': 403,
  'https://evil.test https://troupe.test': 403,
  'https://troupe.test, https://evil.test': 403,
  'https://troupe.test.': 403,
  'https:troupe.test': 403,
  '//troupe.test': 403,
  'troupe.test': 403,
  'ws://localhost:PORT': 403,
  'ftp://localhost:PORT': 403,
  'http://evil.test:PORT': 403,
  'http://localhost.evil.test:PORT': 403,
  'http://localhost:PORT@evil.test': 403,
  'http://[::ffff:127.0.0.1]:PORT': 403,
  'http://127.1:PORT': 403,
  'http://0.0.0.0:PORT': 403,
  null: 403,
  NULL: 403,
  '*': 403,
  'chrome-extension://abcdef': 403,
  'file://': 403,
  'data:': 403,
  'about:blank': 403,
};

const HOST = 'Host: localhost\r\n';
const GET = 'GET /api/flows HTTP/1.1\r\n';
const POST = `POST /api/sessions HTTP/1.1\r\n${HOST}`;
const CHUNKED = `${POST}Transfer-Encoding: chunked\r\n\r\n`;
const END = '\r\n0\r\n\r\n';

/** Requests that two readers could understand in two ways, or that are none. */
const DOUBTFUL: { readonly [what: string]: string } = {
  'two hosts': `${GET}${HOST}Host: evil.test\r\n\r\n`,
  'two hosts, the other first': `${GET}Host: evil.test\r\n${HOST}\r\n`,
  'the same host twice': `${GET}${HOST}${HOST}\r\n`,
  'two hosts, one in capitals': `${GET}${HOST}HOST: localhost\r\n\r\n`,
  'two hosts in one line': `${GET}Host: localhost, evil.test\r\n\r\n`,
  'no host': `${GET}\r\n`,
  'an empty host': `${GET}Host:\r\n\r\n`,
  'a host that is folded': `${GET}Host:\r\n localhost\r\n\r\n`,
  'a host with NUL': `${GET}Host: localhost\0evil\r\n\r\n`,
  'two lengths': `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
  'the same length twice': `${POST}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`,
  'two lengths in one line': `${POST}Content-Length: 2, 2\r\n\r\n{}`,
  'a length with a plus': `${POST}Content-Length: +2\r\n\r\n{}`,
  'a negative length': `${POST}Content-Length: -2\r\n\r\n{}`,
  'a hexadecimal length': `${POST}Content-Length: 0x2\r\n\r\n{}`,
  'a length with a fraction': `${POST}Content-Length: 2.0\r\n\r\n{}`,
  'a length with an exponent': `${POST}Content-Length: 2e0\r\n\r\n{}`,
  'a length with a space': `${POST}Content-Length: 2 2\r\n\r\n{}`,
  'a length with an underscore': `${POST}Content-Length: 2_0\r\n\r\n{}`,
  'a quoted length': `${POST}Content-Length: "2"\r\n\r\n{}`,
  'an empty length': `${POST}Content-Length:\r\n\r\n{}`,
  'a length that is a word': `${POST}Content-Length: two\r\n\r\n{}`,
  'a length beyond 64 bits': `${POST}Content-Length: 18446744073709551618\r\n\r\n{}`,
  'a length with a vertical tab': `${POST}Content-Length: \x0b2\r\n\r\n{}`,
  'a length and chunks': `${POST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'chunks and a length': `${POST}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n`,
  'chunks, and a space before the colon': `${POST}Content-Length: 2\r\nTransfer-Encoding : chunked\r\n\r\n{}`,
  'an unknown encoding': `${POST}Transfer-Encoding: xchunked\r\n\r\n2\r\n{}${END}`,
  'chunks inside gzip': `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}${END}`,
  'gzip after chunks': `${POST}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
  'the identity encoding': `${POST}Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}`,
  'two encodings': `${POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`,
  'chunked twice': `${POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'chunked twice in one line': `${POST}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`,
  'an empty encoding': `${POST}Transfer-Encoding:\r\n\r\n0\r\n\r\n`,
  'an encoding with a vertical tab': `${POST}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`,
  'a negative chunk': `${CHUNKED}-2\r\n{}${END}`,
  'a chunk with a plus': `${CHUNKED}+2\r\n{}${END}`,
  'a chunk with 0x': `${CHUNKED}0x2\r\n{}${END}`,
  'a chunk beyond 64 bits': `${CHUNKED}fffffffffffffffff2\r\n{}${END}`,
  'a chunk of two gibibytes': `${CHUNKED}7fffffff\r\n{}`,
  'a chunk whose size is no number': `${CHUNKED}g\r\n{}${END}`,
  'a chunk without a size': `${CHUNKED}\r\n{}${END}`,
  'another host in the address': `GET http://evil.test/api/flows HTTP/1.1\r\n${HOST}\r\n`,
  'another host than the address has': 'GET http://localhost/api/flows HTTP/1.1\r\nHost: evil.test\r\n\r\n',
  'an address without a slash': `GET api/flows HTTP/1.1\r\n${HOST}\r\n`,
  'an address of two slashes': `GET //evil.test/api/flows HTTP/1.1\r\n${HOST}\r\n`,
  'an address with a space': `GET /api/fl ows HTTP/1.1\r\n${HOST}\r\n`,
  'an address with a control character': `GET /api/flows?\x01 HTTP/1.1\r\n${HOST}\r\n`,
  'an address with NUL': `GET /api/flows\0 HTTP/1.1\r\n${HOST}\r\n`,
  'an address with a raw byte': `GET /api/flows?\xe9 HTTP/1.1\r\n${HOST}\r\n`,
  'a request to tunnel': `CONNECT localhost:80 HTTP/1.1\r\n${HOST}\r\n`,
  'a star': `GET * HTTP/1.1\r\n${HOST}\r\n`,
  'a folded header': `${GET}${HOST}X: a\r\n b\r\n\r\n`,
  'a header folded with a tab': `${GET}${HOST}X: a\r\n\tb\r\n\r\n`,
  'a first header that begins with a space': `${GET} ${HOST}\r\n`,
  'line feeds alone': 'GET /api/flows HTTP/1.1\nHost: localhost\n\n',
  'a line feed after the request line': `GET /api/flows HTTP/1.1\n${HOST}\r\n`,
  'a line feed after a header': `${GET}Host: localhost\n\r\n`,
  'a line feed in a header': `${GET}${HOST}X: a\nAuthorization: Bearer x\r\n\r\n`,
  'a carriage return in a header': `${GET}${HOST}X: a\rY: b\r\n\r\n`,
  'a space before the colon': `${GET}Host : localhost\r\n\r\n`,
  'a space before the colon of the length': `${POST}Content-Length : 2\r\n\r\n{}`,
  'a tab before the colon': `${GET}${HOST}X\t: a\r\n\r\n`,
  'a header without a colon': `${GET}${HOST}X\r\n\r\n`,
  'a header whose name is none': `${GET}${HOST}X(y: a\r\n\r\n`,
  'a header with NUL in its name': `${GET}${HOST}X\0: a\r\n\r\n`,
  'a header with NUL in its value': `${GET}${HOST}X: a\0b\r\n\r\n`,
  'a header with a control character': `${GET}${HOST}X: a\x01b\r\n\r\n`,
  'two authorizations': `${GET}${HOST}Authorization: Bearer x\r\nAuthorization: Bearer y\r\n\r\n`,
  'two origins': `${GET}${HOST}Origin: http://localhost\r\nOrigin: http://evil.test\r\n\r\n`,
  'two cookies': `${GET}${HOST}Cookie: a=b\r\nCookie: c=d\r\n\r\n`,
  'HTTP 1.0': `GET /api/flows HTTP/1.0\r\n${HOST}\r\n`,
  'HTTP 1.2': `GET /api/flows HTTP/1.2\r\n${HOST}\r\n`,
  'HTTP 2 with prior knowledge': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'HTTP 0.9': 'GET /api/flows\r\n\r\n',
  'a version and more': `GET /api/flows HTTP/1.1x\r\n${HOST}\r\n`,
  // node:http skips them, and reads what was meant.
  'two spaces': `GET  /api/flows HTTP/1.1\r\n${HOST}\r\n`,
  tabs: `GET\t/api/flows\tHTTP/1.1\r\n${HOST}\r\n`,
  'a request line that ends with a space': `GET /api/flows HTTP/1.1 \r\n${HOST}\r\n`,
  'a space before the method': ` ${GET}${HOST}\r\n`,
  'a method that is no word': `G(T /api/flows HTTP/1.1\r\n${HOST}\r\n`,
  'a method in small letters': `get /api/flows HTTP/1.1\r\n${HOST}\r\n`,
  'the beginning of TLS': '\x16\x03\x01\x02\x00\x01\x00',
};

for (const server of servers) {
  t.test(`Only a Host that names this service is let in (${server})`, async (t) => {
    const allowedHosts = ['farm.test', 'ci.test:8080'];
    const gateway = await house.listen({ server, token: 'x', allowedHosts, publicUrl: 'https://troupe.test/x' });
    for (const [host, status] of Object.entries(HOSTS)) t.equal(await statusWith(gateway, { host }), status, host);
  });

  t.test(
    `Only a page of this service itself is let in, not one on another port of this machine (${server})`,
    async (t) => {
      const options = { publicUrl: 'https://troupe.test', allowedHosts: ['farm.test'] };
      const gateway = await house.listen({ server, token: 'x', ...options });
      for (const [origin, status] of Object.entries(ORIGINS)) {
        t.equal(await statusWith(gateway, { host: 'localhost:PORT', origin }), status, origin);
      }
    },
  );

  t.test(`A request that can be read in two ways is refused, or its connection closed (${server})`, async (t) => {
    const { gateway, created } = await listenAnsweringAtOnce(t, server);
    for (const sound of [`${GET}${HOST}\r\n`, `${POST}Content-Length: 2\r\n\r\n{}`, `${CHUNKED}2\r\n{}${END}`]) {
      t.match((await answersTo(gateway, sound)).statuses, [/20[01]/], sound);
    }
    const made = created();
    for (const plain of ['two hosts', 'the same host twice', 'two lengths', 'the same length twice']) {
      const { statuses } = await answersTo(gateway, DOUBTFUL[plain] ?? '');
      t.same(statuses, ['400'], plain);
    }
    await Promise.all(
      Object.entries(DOUBTFUL).map(async ([what, text]) => {
        const { statuses } = await answersTo(gateway, text);
        if (server === 'node' && what === 'two spaces') return;
        t.notOk(
          statuses.some((status) => /^[123]/.test(status)),
          `${what}: ${statuses.join(' ') || 'closed'}`,
        );
      }),
    );
    // uWebSockets.js takes a chunk without a size for the last one, so that body was empty; what follows it is refused.
    t.equal(created(), made + (server === 'uws' ? 1 : 0));
  });

  t.test(
    `After a request that ends nobody knows where, nothing that follows on its connection is done (${server})`,
    async (t) => {
      const { gateway, created } = await listenAnsweringAtOnce(t, server);
      const hidden = `${POST}Content-Length: 2\r\n\r\n{}`;
      for (const head of [
        `${POST}Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n`,
        `${POST}Content-Length: ${hidden.length}\r\nContent-Length: 0\r\n\r\n`,
        `${POST}Transfer-Encoding: identity\r\n\r\n`,
        `GET /api/stream HTTP/1.1\r\n${HOST}Content-Length: 0\r\nContent-Length: 9\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
      ]) {
        const { statuses } = await answersTo(gateway, head + hidden);
        t.notOk(
          statuses.some((status) => status !== '400'),
          head,
        );
      }
      t.equal(created(), 0);
    },
  );
}

/** A client that ends its side is answered only what there is at that moment, so these calls are answered at once. */
async function listenAnsweringAtOnce(t: Test, server: ServerName): Promise<{ gateway: Gateway; created(): number }> {
  const { sessions, live } = house;
  const record = await live();
  let created = 0;
  const createLive = async () => {
    created += 1;
    return record;
  };
  const gateway = await house.listen({
    server,
    sessions: scripted<Sessions>(sessions, {
      createLive,
      flows: scripted<Flows>(sessions.flows, { tree: async () => [] }),
    }),
    token: undefined,
  });
  t.teardown(() => sessions.remove(record.id, false));
  return { gateway, created: () => created };
}

/** All that comes back on one connection, which the client ends its side of: what is incomplete then stays unanswered. */
function answersTo(gateway: Gateway, text: string): Promise<{ readonly statuses: readonly string[] }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
    const timer = setTimeout(() => reject(new Error(`Nothing came of ${JSON.stringify(text)}`)), 60_000);
    let seen = '';
    socket.setEncoding('latin1');
    socket.on('error', () => undefined);
    socket.on('data', (data: string) => {
      seen += data;
      // A body that is waited for holds a connection open after an answer.
      if (/\r\n\r\n[\s\S]*[}\]>]$/.test(seen)) socket.end();
    });
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      clearTimeout(timer);
      resolve({ statuses: [...seen.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = '']) => status) });
    });
    socket.write(Buffer.from(text, 'latin1'), () => setImmediate(() => socket.end()));
  });
}
