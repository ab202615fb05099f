import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { requestsModule } from '#request-client/engine/flow/requests-module.js';
import { serviceReach } from '#request-client/engine/flow/service-reach.js';
import { CookieJar } from '#request-client/engine/run/cookie-jar.js';
import { guardLeaks } from '../../../../test/support/leaks.js';

guardLeaks(t);
const requestsDir = mkdtempSync(join(tmpdir(), 'troupe-cookies-'));
t.teardown(() => rmSync(requestsDir, { recursive: true, force: true }));
const heard: (string | undefined)[] = [];
const server = createServer((request, response) => {
  heard.push(request.headers.cookie);
  if (request.url === '/login') response.setHeader('set-cookie', ['sid=s1; Path=/; HttpOnly', 'theme=dark']);
  if (request.url?.startsWith('/away') === true) {
    response.writeHead(302, { Location: `${base.replace('127.0.0.1', 'localhost')}/elsewhere` });
  }
  response.end('{}');
});
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const script = (listen: string, exec: string): object => ({ listen, script: { exec } });

function session() {
  const { calls } = requestsModule({
    requestsDir,
    reach: serviceReach({ ownPort: 1, egress: { service: {}, session: {} } }),
  });
  return async (name: string, vars: object = {}): Promise<unknown> => {
    heard.length = 0;
    return await calls.run?.([name, vars], {
      signal: new AbortController().signal,
      remainingMs: () => 20_000,
      pause: () => () => undefined,
      site: { kind: 'script', flow: null, flowRun: null, line: null, column: null },
    });
  };
}
const collection = (name: string, ...item: object[]): void =>
  writeFileSync(
    join(requestsDir, `${name}.json`),
    JSON.stringify({
      info: { name },
      variable: [
        { key: 'base', value: base },
        { key: 'key', value: 'hidden-4711', type: 'secret' },
      ],
      item,
    }),
  );
collection(
  'shop',
  { name: 'Log in', request: { method: 'POST', url: '{{base}}/login' } },
  {
    name: 'Read',
    request: { method: 'GET', url: '{{base}}/orders' },
    event: [script('test', 'pm.test("sees the cookie", () => pm.expect(pm.cookies.get("sid")).to.equal("s1"));')],
  },
  {
    name: 'Without',
    protocolProfileBehavior: { disableCookies: true },
    request: { method: 'GET', url: '{{base}}/orders' },
  },
  {
    name: 'Follow',
    protocolProfileBehavior: { followAuthorizationHeader: true },
    request: { method: 'GET', url: '{{base}}/away', header: [{ key: 'Authorization', value: 'Token own' }] },
  },
  {
    name: 'Leak',
    request: { method: 'GET', url: '{{to}}/x' },
    event: [
      script('prerequest', 'await pm.cookies.jar().set(pm.variables.get("to"), "note", pm.variables.get("key"));'),
    ],
  },
);
collection('other', { name: 'Read', request: { method: 'GET', url: '{{base}}/other' } });

t.test('cookies are kept from one Request.run to the next, for all collections of a session', async (t) => {
  const run = session();
  await run('shop/Log in');
  t.strictSame(heard, [undefined]);
  await run('shop/Read');
  t.strictSame(heard, ['sid=s1; theme=dark']);
  await run('other/Read');
  t.strictSame(heard, ['sid=s1; theme=dark']);
  await run('shop/Without');
  t.strictSame(heard, [undefined]);
});

t.test('sessions do not share cookies', async (t) => {
  await session()('shop/Log in');
  await session()('other/Read');
  t.strictSame(heard, [undefined]);
});

t.test('cookies go back to the server that set them, also if the collection does not name it', async (t) => {
  const run = session();
  const to = base.replace('127.0.0.1', 'localhost');
  await run('shop/Log in', { base: to });
  await run('other/Read', { base: to });
  t.strictSame(heard, ['sid=s1; theme=dark']);
  await run('other/Read');
  t.strictSame(heard, [undefined]);
});

t.test('a script cannot send a secret of the collection elsewhere as a cookie', async (t) => {
  const to = base.replace('127.0.0.1', 'localhost');
  await t.rejects(session()('shop/Leak', { to }), { code: 'REQUEST_FAILED', details: { cause: 'ORIGIN' } });
  t.strictSame(heard, []);
});

t.test(
  'a redirect to an origin that the collection does not name gets no authorization, whatever the request wants',
  async (t) => {
    await t.rejects(session()('shop/Follow'), { code: 'REQUEST_FAILED', details: { cause: 'ORIGIN' } });
    t.strictSame(heard, [undefined], 'only the server that redirects was asked');
  },
);

t.test('Max-Age counts from when the cookie was set, and not from its last use', async (t) => {
  const jar = new CookieJar();
  const before = Date.now();
  await jar.take('http://h.example/', [
    'a=1; Max-Age=60',
    'b=2',
    'c=3; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
    'd=4; Max-Age=0; Expires=Thu, 01 Jan 2970 00:00:00 GMT',
    'f=6; Max-Age=99999999999999; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
  ]);
  await jar.set('http://h.example/', 'e=5; Max-Age=60');
  const after = Date.now();
  const rows = await jar.list();
  t.strictSame(
    rows.map(({ name }) => name),
    ['a', 'b', 'c', 'e', 'f'],
  );
  for (const { name, expires } of rows) {
    const until = Date.parse(expires ?? '');
    if (name === 'b' || name === 'f') t.equal(expires, null);
    else t.ok(until >= before + 59_999 && until <= after + 60_000, name);
  }
  await jar.header('http://h.example/');
  t.strictSame(await jar.list(), rows);
  await jar.take('http://h.example/', ['a=1; Max-Age=0']);
  t.equal(await jar.header('http://h.example/'), 'b=2; c=3; f=6; e=5');
});
