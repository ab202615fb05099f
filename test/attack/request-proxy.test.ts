import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Routes } from '#request-client/engine/connection/routes.js';
import { requestsModule } from '#request-client/engine/flow/requests-module.js';
import { serviceReach } from '#request-client/engine/flow/service-reach.js';
import { startProxy } from '../../request-client/test/engine/connection/proxy-server.js';
import { startEcho } from '../../request-client/test/window/window-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const requestsDir = mkdtempSync(join(tmpdir(), 'troupe-request-proxy-'));
t.teardown(() => rmSync(requestsDir, { recursive: true, force: true }));
const OWN_PORT = 4444;
const [ownAddress = '127.0.0.1'] = Object.values(networkInterfaces()).flatMap((list) =>
  (list ?? []).filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address),
);

/** What names resolve to; nothing else can be looked up. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'shop.test': ['192.0.2.7'],
  'six.test': ['2001:db8::7', '192.0.2.8'],
  'metadata.test': ['169.254.169.254'],
  'metadata6.test': ['fd00:ec2::254'],
  'mapped.test': ['::ffff:169.254.169.254'],
  'two.test': ['192.0.2.7', '169.254.169.254'],
  'denied-range.test': ['10.1.2.3'],
  'here.test': ['127.0.0.1'],
  localhost: ['127.0.0.1'],
  'own.test': [ownAddress],
  'evil.denied.test': ['192.0.2.9'],
};

const echo = await startEcho(t);
const { port } = new URL(echo.origin);
const proxy = await startProxy(t);

async function run(url: string): Promise<unknown> {
  const collection = { info: { name: 'c' }, item: [{ name: 'Try', request: { method: 'GET', url } }] };
  writeFileSync(join(requestsDir, 'c.json'), JSON.stringify(collection));
  const reach = serviceReach(
    {
      ownPort: OWN_PORT,
      egress: { service: { deny: ['*.denied.test', 'denied.test', '10.0.0.0/8'] }, session: {} },
    },
    (name, answer) => {
      const addresses = (NAMES[name] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      if (addresses.length > 0) answer(null, addresses);
      else answer(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), []);
    },
  );
  const routes = new Routes({ proxy: { http: proxy.url, https: proxy.url, bypass: [] }, ca: [], certificates: [] });
  const call = requestsModule({ requestsDir, reach, routes }).calls.run;
  if (call === undefined) throw new Error('there is Request.run');
  echo.heard.length = 0;
  proxy.asked.length = 0;
  return await call(['c/Try', {}], {
    signal: new AbortController().signal,
    remainingMs: () => 20_000,
    pause: () => () => undefined,
    site: { kind: 'script', flow: null, flowRun: null, line: null, column: null },
  }).catch((error: unknown) => error);
}

const BLOCKED = [
  'http://169.254.169.254/latest/meta-data',
  'https://169.254.169.254/',
  'http://169.254.169.254:8080/',
  'http://0xa9fea9fe/',
  'http://2852039166/',
  'http://0251.0376.0251.0376/',
  'http://169.254.169.254./',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[fd00:ec2::254]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://metadata.test/',
  'https://metadata.test/',
  'http://METADATA.test/',
  'http://metadata6.test/',
  'http://mapped.test/',
  'http://two.test/',
  'http://denied-range.test/',
  'http://10.9.8.7/',
  'http://0x0a.9.8.7/',
  'http://denied.test/',
  'http://evil.denied.test/',
  'http://EVIL.Denied.test./',
  'http://unknown.test/',
  `http://127.0.0.1:${OWN_PORT}/`,
  `http://localhost:${OWN_PORT}/`,
  `http://here.test:${OWN_PORT}/`,
  `http://own.test:${OWN_PORT}/`,
  `https://own.test:${OWN_PORT}/`,
  `http://${ownAddress}:${OWN_PORT}/`,
];

t.test('A proxy does not get what a session must not reach', async (t) => {
  for (const url of BLOCKED) {
    t.match(await run(url), { code: 'REQUEST_FAILED', details: { cause: 'EGRESS' } }, url);
    t.strictSame(proxy.asked, [], url);
  }
});

t.test('A proxy gets the address that was checked, and no name that it could resolve otherwise', async (t) => {
  for (const [url, address] of [
    [`http://shop.test:${port}/a`, '192.0.2.7'],
    [`http://six.test:${port}/a`, '192.0.2.8'],
    [`http://192.0.2.20:${port}/a`, '192.0.2.20'],
  ] as const) {
    t.match(await run(url), { status: 200 }, url);
    t.match(proxy.asked, [{ method: 'CONNECT', target: `${address}:${port}` }], url);
    t.equal(echo.heard[0]?.headers.host, new URL(url).host, url);
  }
});

t.test('This machine is reached directly: to a proxy, localhost would be its own', async (t) => {
  for (const url of [`http://127.0.0.1:${port}/`, `http://localhost:${port}/`, `http://here.test:${port}/`]) {
    t.match(await run(url), { status: 200 }, url);
    t.strictSame(proxy.asked, [], url);
  }
});
