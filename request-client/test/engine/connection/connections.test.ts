import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readProxy } from '#request-client/engine/connection/proxy-rules.js';
import { Routes } from '#request-client/engine/connection/routes.js';
import { readOAuthSettings } from '#request-client/engine/oauth/oauth-settings.js';
import { TokenStore } from '#request-client/engine/oauth/token-store.js';
import type { PreparedRequest } from '#request-client/engine/run/prepared-request.js';
import { HttpSender } from '#request-client/engine/run/send-request.js';
import type { ConnectionSettings } from '#troupe/config/connection-settings.js';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { startEcho } from '../../window/window-fixture.js';
import { CERTIFICATES } from './certificates.js';
import { startProxy } from './proxy-server.js';
import { type Seen, startTls } from './servers.js';

guardLeaks(t);

const folder = t.testdir({
  'ca.pem': CERTIFICATES.authority,
  'client.pem': CERTIFICATES.client.cert,
  'client.key': CERTIFICATES.client.key,
  'locked.key': CERTIFICATES.client.encryptedKey,
  'client.pfx': CERTIFICATES.client.pfx,
  'none.pem': 'no certificate',
});
const file = (name: string): string => join(folder, name);
const CERTIFICATE = { host: 'localhost', cert: '', key: '', pfx: '', passphrase: '' };

function open(t: Test, settings: Partial<ConnectionSettings> = {}) {
  const sender = new HttpSender(
    null,
    new Routes({ proxy: { http: '', https: '', bypass: [] }, ca: [file('ca.pem')], certificates: [], ...settings }),
  );
  t.teardown(() => sender.close());
  return async (url: string, more: Partial<PreparedRequest> = {}): Promise<Seen & { readonly status: number }> => {
    const response = await sender.send(
      {
        method: 'GET',
        url,
        headers: [],
        withoutHeaders: [],
        body: { kind: 'none' },
        settings: { followRedirects: true, verifyTls: true, encodeUrl: true },
        ...more,
      },
      { timeoutMs: 30_000, folder },
    );
    try {
      const text = response.body.kind === 'memory' ? response.body.bytes.toString() : '{}';
      return { ...JSON.parse(text.startsWith('{') ? text : '{}'), status: response.status };
    } finally {
      await response.dispose();
    }
  };
}
const through = (url: string, bypass: readonly string[] = []) => ({ proxy: { http: url, https: url, bypass } });

t.test('requests to http and https servers go through the proxy', async (t) => {
  const [echo, tls, proxy] = [await startEcho(t), await startTls(t), await startProxy(t)];
  const send = open(t, through(proxy.url));
  const { port } = new URL(echo.origin);
  t.equal((await send(`http://shop.test:${port}/a?b=c`)).status, 200);
  t.match(echo.heard, [{ url: '/a?b=c', headers: { host: `shop.test:${port}` } }], 'the proxy resolves the name');
  t.match(await send(`https://shop.test:${tls.port}/d`), { status: 200, url: '/d', httpVersion: '2.0' });
  t.strictSame(proxy.asked, [
    { method: 'GET', target: `http://shop.test:${port}/a?b=c`, login: undefined },
    { method: 'CONNECT', target: `shop.test:${tls.port}`, login: undefined },
  ]);
});

t.test('a proxy of its own TLS is used with its certificate checked', async (t) => {
  const [tls, proxy] = [await startTls(t), await startProxy(t, { secure: true })];
  await t.rejects(open(t, through(proxy.url))(`https://shop.test:${tls.port}/`), {
    code: 'REQUEST_FAILED',
    message: /^The proxy 127\.0\.0\.1:\d+: .*authority/,
  });
});

t.test('a proxy with a login gets it, servers do not, and no message shows it', async (t) => {
  const [echo, tls] = [await startEcho(t), await startTls(t)];
  const proxy = await startProxy(t, { login: 'ada:s3cret word' });
  const send = open(t, through(proxy.url.replace('//', '//ada:s3cret%20word@')));
  t.equal((await send(`${echo.origin}/`)).status, 200);
  t.equal((await send(`https://localhost:${tls.port}/`)).status, 200);
  t.equal(echo.heard[0]?.headers['proxy-authorization'], undefined);
  t.equal(tls.seen[0]?.headers['proxy-authorization'], undefined);

  for (const [login, says] of [
    ['', /^The proxy 127\.0\.0\.1:\d+ requires a login \(status 407\)/],
    ['ada:wr0ng@', /refused its user name and password/],
  ] as const) {
    const failure = await open(
      t,
      through(proxy.url.replace('//', `//${login}`)),
    )(`https://localhost:${tls.port}/`).catch((error: unknown) => error);
    t.match(failure, { code: 'REQUEST_FAILED', message: says, details: { cause: 'PROXY', status: 407 } });
    t.notMatch(JSON.stringify(failure) + String(failure), /wr0ng/);
  }
  t.equal(
    (await open(t, through(proxy.url))(`${echo.origin}/`)).status,
    407,
    'for http, the answer of the proxy is shown',
  );
});

t.test('token requests of OAuth 2.0 go through the proxy, too', async (t) => {
  const proxy = await startProxy(t);
  const echo = await startEcho(t);
  const routes = new Routes({ ...through(proxy.url), ca: [], certificates: [] });
  const tokens = new TokenStore({ openBrowser: async () => undefined, routes: () => routes });
  const url = `http://login.test:${new URL(echo.origin).port}/token`;
  const stored = new Map(Object.entries({ grant_type: 'client_credentials', url, client_id: 'c', client_secret: 's' }));
  // The echo server grants nothing; it is enough that it was asked.
  await t.rejects(tokens.token(readOAuthSettings(stored, (text) => text)), { code: 'LOGIN_FAILED' });
  t.match(proxy.asked, [{ method: 'POST', target: url }]);
  t.match(echo.heard, [{ method: 'POST', body: /grant_type=client_credentials/ }]);
});

t.test('hosts of the bypass list are reached directly', async (t) => {
  const [echo, proxy] = [await startEcho(t), await startProxy(t)];
  const { port } = new URL(echo.origin);
  for (const bypass of [['*'], ['127.0.0.1'], ['127.0.0.0/8'], ['shop.test', ` 127.0.0.1:${port} `]]) {
    t.equal((await open(t, through(proxy.url, bypass))(`http://127.0.0.1:${port}/`)).status, 200);
  }
  t.strictSame(proxy.asked, []);
  for (const bypass of [[], ['shop.test'], ['127.0.0.1:1'], ['10.0.0.0/8']]) {
    t.equal((await open(t, through(proxy.url, bypass))(`http://127.0.0.1:${port}/`)).status, 200);
  }
  t.equal(proxy.asked.length, 4);
});

t.test('the login of a proxy may contain what is no percent-encoding', async (t) => {
  t.equal(readProxy('http://ada:50%@proxy.test:1')?.authorization, `Basic ${btoa('ada:50%')}`);
  t.equal(readProxy('http://a%40b:c%3Ad@proxy.test:1')?.authorization, `Basic ${btoa('a@b:c:d')}`);
});

t.test('a proxy that cannot be used is named with what to do', async (t) => {
  const tls = await startTls(t);
  const proxy = await startProxy(t);
  await t.rejects(open(t, through('http://ada:hidden@127.0.0.1:1'))(`https://localhost:${tls.port}/`), {
    message: /^The proxy 127\.0\.0\.1:1: nothing is listening there/,
    details: { cause: 'PROXY', reason: 'ECONNREFUSED' },
  });
  await t.rejects(open(t, through(proxy.url))('https://forbidden.test/'), {
    message: /refused the connection \(status 403\)/,
  });
  for (const [url, says] of [
    ['socks5://ada:hidden@127.0.0.1:1', /socks5:\/\/127.*is not supported/],
    ['http://ada:hidden@a b', /^The proxy http:\/\/a b is not a URL/],
  ] as const) {
    await t.rejects(open(t, through(url))('http://localhost:1/'), { code: 'REQUEST_FAILED', message: says });
  }
});

t.test('a server that wants a certificate gets the one of its host, as PEM or PFX', async (t) => {
  const tls = await startTls(t, { wantsCertificate: true });
  const url = `https://localhost:${tls.port}/`;
  for (const certificate of [
    { cert: file('client.pem'), key: file('client.key') },
    { cert: file('client.pem'), key: file('locked.key'), passphrase: 'sesame' },
    { pfx: file('client.pfx'), passphrase: 'sesame' },
    { host: `localhost:${tls.port}`, pfx: file('client.pfx'), passphrase: 'sesame' },
  ]) {
    t.match(await open(t, { certificates: [{ ...CERTIFICATE, ...certificate }] })(url), { status: 200, client: 'ada' });
  }
  const pfx = { pfx: file('client.pfx'), passphrase: 'sesame' };
  for (const certificates of [
    [],
    [{ ...CERTIFICATE, ...pfx, host: '127.0.0.1' }],
    [{ ...CERTIFICATE, ...pfx, host: 'localhost:1' }],
  ]) {
    await t.rejects(open(t, { certificates })(url), { message: /requires a client certificate/ });
  }
  const proxy = await startProxy(t);
  const certificates = [{ ...CERTIFICATE, ...pfx, host: '*.shop.test' }];
  const send = open(t, { certificates, ...through(proxy.url) });
  t.match(await send(`https://api.shop.test:${tls.port}/`), { client: 'ada' }, 'also through a proxy');
});

t.test('a certificate that cannot be used is named with the reason', async (t) => {
  const tls = await startTls(t);
  for (const [certificate, says] of [
    [{ pfx: file('client.pfx'), passphrase: 'wrong' }, /client\.pfx cannot be used: check its passphrase/],
    [{ cert: file('client.pem'), key: file('locked.key') }, /client\.pem cannot be used: check its passphrase/],
    [{ cert: file('ca.pem'), key: file('client.key') }, /its key belongs to another certificate/],
    [{ cert: file('none.pem'), key: file('client.key') }, /not in this format/],
    [{ cert: file('gone.pem'), key: file('client.key') }, /gone\.pem cannot be read/],
  ] as const) {
    await t.rejects(open(t, { certificates: [{ ...CERTIFICATE, ...certificate }] })(`https://localhost:${tls.port}/`), {
      code: 'REQUEST_FAILED',
      message: says,
      details: { cause: 'CERTIFICATE' },
    });
  }
  await t.rejects(open(t, { ca: [file('none.pem')] })(`https://localhost:${tls.port}/`), { message: /not a PEM file/ });
  await t.rejects(open(t, { ca: [] })(`https://localhost:${tls.port}/`), { message: /--ca/ });
});

t.test('a server that offers HTTP/2 gets all requests over one connection', async (t) => {
  const tls = await startTls(t);
  const send = open(t);
  const url = `https://localhost:${tls.port}`;
  const headers = [
    { name: 'X-Name', value: 'é' },
    { name: 'X-Twice', value: '1' },
    { name: 'X-Twice', value: '2' },
    { name: 'Connection', value: 'close' },
  ];
  t.match(await send(`${url}/a?b=%20`, { headers }), {
    httpVersion: '2.0',
    url: '/a?b=%20',
    headers: { ':authority': `localhost:${tls.port}`, 'x-name': 'Ã©', 'x-twice': '1, 2' },
  });
  const body = { kind: 'text', text: '{"id": "ü"}' } as const;
  const many = await Promise.all(Array.from({ length: 30 }, (_, at) => send(`${url}/${at}`, { method: 'POST', body })));
  t.ok(many.every((one, at) => one.httpVersion === '2.0' && one.url === `/${at}` && one.body === body.text));
  t.equal(tls.connections(), 1);
  t.equal((await send(`${url}/to/%2Fthere`)).url, '/there', 'a redirect is followed');
  t.equal((await send(`${url}/large`)).status, 200);
});

t.test('requests that begin together share the HTTP/2 connection that came first', async (t) => {
  const tls = await startTls(t);
  const send = open(t);
  const all = await Promise.all(Array.from({ length: 8 }, () => send(`https://localhost:${tls.port}/`)));
  t.ok(all.every(({ status, httpVersion }) => status === 200 && httpVersion === '2.0'));
});

t.test('a request may demand its version of HTTP', async (t) => {
  const [both, only2] = [await startTls(t), await startTls(t, { allowHTTP1: false })];
  const send = open(t);
  const settings = { followRedirects: true, verifyTls: true, encodeUrl: true };
  const http1 = { settings: { ...settings, httpVersion: 'http1' } } as const;
  const http2 = { settings: { ...settings, httpVersion: 'http2' } } as const;
  const url = `https://localhost:${both.port}/`;
  t.match(await send(url), { httpVersion: '2.0' });
  t.match(await send(url, http1), { httpVersion: '1.1' });
  t.match(await send(url, http2), { httpVersion: '2.0' });
  t.match(await send(`https://localhost:${only2.port}/`), { httpVersion: '2.0' });
  await t.rejects(send(`https://localhost:${only2.port}/`, http1), { message: /set the HTTP version/ });
});

t.test('after the server has ended an HTTP/2 connection, the next request gets a new one', async (t) => {
  const tls = await startTls(t);
  const send = open(t);
  const url = `https://localhost:${tls.port}/`;
  await send(url);
  await tls.endAll();
  // The first one may come before the client knows; it is not repeated, since the server may have received it.
  await send(url).catch((error: unknown) => t.match(error, { code: 'REQUEST_FAILED' }));
  t.match(await send(url), { status: 200, httpVersion: '2.0' });
  t.equal(tls.connections(), 2);
});
