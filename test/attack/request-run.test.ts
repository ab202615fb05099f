import { lookup } from 'node:dns';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { requestsModule } from '#request-client/engine/flow/requests-module.js';
import { serviceReach } from '#request-client/engine/flow/service-reach.js';
import { HttpSender } from '#request-client/engine/run/send-request.js';
import { guardLeaks } from '../support/leaks.js';
import { sampled } from '../support/sampled.js';

guardLeaks(t);

const SECRET = 'sekrit/+ 4711';
const KEY = 'the-key-of-the-service';

interface Site {
  readonly server: Server;
  readonly origin: string;
  readonly port: number;
  readonly heard: { readonly url: string; readonly headers: IncomingHttpHeaders; readonly body: string }[];
}

/** Paths: `/to/<url>` redirects with 307, `/token` grants an OAuth token, anything else is answered with JSON. */
async function startSite(): Promise<Site> {
  const heard: Site['heard'][number][] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('latin1')) body += chunk;
    const { url = '', headers } = request;
    heard.push({ url, headers, body });
    if (url.startsWith('/to/')) {
      return void response
        .writeHead(307, { location: Buffer.from(decodeURIComponent(url.slice(4))).toString('latin1') })
        .end();
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ok: true, access_token: 'granted-token', token_type: 'Bearer', next: 'x' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  return { server, origin: `http://127.0.0.1:${port}`, port, heard };
}

const home = mkdtempSync(join(tmpdir(), 'troupe-request-run-'));
t.teardown(() => rmSync(home, { recursive: true, force: true }));
const requestsDir = join(home, 'requests');
mkdirSync(join(requestsDir, 'team', 'files'), { recursive: true });
mkdirSync(join(home, 'requests-old'));
writeFileSync(join(home, 'troupe.key'), KEY);
writeFileSync(join(home, 'requests-old', 'key'), KEY);
writeFileSync(join(requestsDir, 'photo.txt'), 'a photo');
writeFileSync(join(requestsDir, 'team', 'files', 'deep.txt'), 'a photo');
symlinkSync(join(home, 'troupe.key'), join(requestsDir, 'link.txt'));
symlinkSync('../troupe.key', join(requestsDir, 'relative-link.txt'));
symlinkSync('link.txt', join(requestsDir, 'link-to-link.txt'));
symlinkSync(home, join(requestsDir, 'up'));
symlinkSync('/proc/self', join(requestsDir, 'self'));
symlinkSync('photo.txt', join(requestsDir, 'inside-link.txt'));

const own = await startSite();
const shop = await startSite();
const other = await startSite();

type Case = readonly [what: string, request: object, vars?: object];
const exec = (listen: 'prerequest' | 'test', ...lines: string[]) => ({ listen, script: { exec: lines } });
const auth = (type: string, settings: object) => ({
  type,
  [type]: Object.entries(settings).map(([key, value]) => ({ key, value, type: 'string' })),
});
const header = (key: string, value: string) => ({ header: [{ key, value }] });
const raw = (text: string) => ({ body: { mode: 'raw', raw: text } });

/** Runs one request of a collection of its own, as a script of a session does. */
async function run(request: object, vars: object = {}, more: { event?: object[]; name?: string } = {}) {
  const name = more.name ?? 'shop';
  const { event = [], ...sent } = request as { event?: object[] };
  const collection = {
    info: { name: 'Shop', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
    variable: [
      { key: 'base', value: shop.origin },
      { key: 'site', value: '{{base}}' },
      { key: 'none', value: '' },
      { key: 'secret', value: SECRET },
      { key: 'pin', value: 'marked-4711', type: 'secret' },
      { key: 'word', value: 'used-in-auth' },
      { key: 'tokenUrl', value: '{{base}}/token' },
      { key: 'tokenType', value: 'application' },
    ],
    item: [
      { name: 'Known', request: { method: 'GET', url: '{{base}}/known', auth: auth('bearer', { token: '{{word}}' }) } },
      { name: 'Try', event, request: { method: 'POST', url: '{{base}}/try', ...sent } },
    ],
  };
  writeFileSync(join(requestsDir, `${name}.json`), JSON.stringify(collection));
  const reach = serviceReach({ ownPort: own.port, egress: { service: {}, session: {} } });
  const module = requestsModule({ requestsDir, reach });
  const call = module.calls.run;
  if (call === undefined) throw new Error('there is Request.run');
  const site = { kind: 'script', flow: null, flowRun: null, line: null, column: null } as const;
  for (const { heard } of [own, shop, other]) heard.length = 0;
  return call([`${name}/Try`, vars], {
    signal: new AbortController().signal,
    remainingMs: () => 20_000,
    pause: () => () => undefined,
    site,
  }).then(
    (value) => ({ value, error: null }),
    (error: Error) => ({ value: null, error }),
  );
}

const leaked = (site: Site): string => JSON.stringify(site.heard);

const file = (src: string) => ({ body: { mode: 'file', file: { src } } });
const form = (src: string | string[]) => ({ body: { mode: 'formdata', formdata: [{ key: 'f', type: 'file', src }] } });
const PATHS: readonly string[] = [
  join(home, 'troupe.key'),
  '../troupe.key',
  './../troupe.key',
  'team/../../troupe.key',
  'team/files/../../../troupe.key',
  '../requests/../troupe.key',
  '../requests-old/key',
  `${requestsDir}-old/key`,
  `${requestsDir}/../troupe.key`,
  'link.txt',
  './link.txt',
  'relative-link.txt',
  'link-to-link.txt',
  join(requestsDir, 'link.txt'),
  'up/troupe.key',
  'up/requests-old/key',
  'self/environ',
  '/proc/self/environ',
  '/dev/zero',
  '/dev/stdin',
  'troupe.key\0.txt',
  '..',
  '.',
  'up',
];
const FILE_CASES: readonly Case[] = PATHS.flatMap((path): Case[] => [
  [`body ${path}`, file(path)],
  [`form ${path}`, form(path)],
  [`body from vars ${path}`, file('{{path}}'), { path }],
  [`form from vars ${path}`, form(['photo.txt', '{{path}}']), { path }],
  [`newlines removed ${path}`, { body: { mode: 'file', file: { src: path, withoutNewlines: true } } }],
  [
    `pm.sendRequest ${path}`,
    {
      url: '{{base}}/after',
      event: [
        exec(
          'prerequest',
          `pm.sendRequest({ url: '${shop.origin}/x', method: 'POST', body: { mode: 'file', file: { src: ${JSON.stringify(path)} } } })`,
        ),
      ],
    },
  ],
]);

t.test('A body is read from files below requests/ and from nowhere else', async (t) => {
  for (const [what, request, vars] of sampled(FILE_CASES, { name: 'request files', count: 20 })) {
    const { error } = await run(request, vars);
    t.ok(error, what);
    t.notMatch(leaked(shop), KEY, what);
    t.notOk(
      shop.heard.some(({ url }) => url.startsWith('/x')),
      what,
    );
  }
  const { error } = await run(file('../troupe.key'));
  t.match(error?.message, /outside of requests\/.*put the file into requests\//);
});

t.test('Files that are below requests/ are sent as before', async (t) => {
  for (const path of [
    'photo.txt',
    './photo.txt',
    'team/files/deep.txt',
    'team/../photo.txt',
    'inside-link.txt',
    join(requestsDir, 'photo.txt'),
  ]) {
    for (const request of [file(path), form(path)]) {
      t.equal((await run(request)).error, null, path);
      t.match(leaked(shop), /a photo/, path);
    }
  }
  t.equal((await run(file('files/deep.txt'), {}, { name: 'team/shop' })).error, null, 'beside its collection');
  t.equal((await run(file('../photo.txt'), {}, { name: 'team/shop' })).error, null, 'up, and still below requests/');
});

const AUTHS: readonly Case[] = [
  ['basic', { auth: auth('basic', { username: 'ada', password: '{{secret}}' }) }],
  ['digest', { auth: auth('digest', { username: 'ada', password: '{{secret}}' }) }],
  ['bearer', { auth: auth('bearer', { token: '{{secret}}' }) }],
  ['a token written out', { auth: auth('bearer', { token: SECRET }) }],
  ['a key in a header', { auth: auth('apikey', { key: 'X-Shop', value: '{{secret}}' }) }],
  ['a key in the address', { auth: auth('apikey', { key: 'k', value: '{{secret}}', in: 'query' }) }],
  ['OAuth 2.0', { auth: auth('oauth2', oauth('{{base}}/token')) }],
  ['Authorization', header('Authorization', 'Bearer {{secret}}')],
  ['authorization in small letters', header('authorization', 'anything')],
  ['Proxy-Authorization', header('Proxy-Authorization', 'Basic eDp5')],
  ['Cookie', header('Cookie', 'sid=1')],
  ['X-API-Key', header('X-API-Key', '12')],
  ['X-Shop-Token', header('X-Shop-Token', '12')],
  ['X-Auth', header('X-Auth-Secret', '12')],
  ['X-Session-Id', header('X-Session-Id', '12')],
  ['a value in any header', header('X-Note', 'a {{secret}}')],
  ['a value that auth uses, elsewhere', header('X-Note', '{{word}}')],
  ['a value that is marked secret', header('X-Note', '{{pin}}')],
  ['a value in the body', raw('{"a": "{{secret}}"}')],
  ['a value in a form', { body: { mode: 'urlencoded', urlencoded: [{ key: 'a', value: '{{secret}}' }] } }],
  ['a value in a part', { body: { mode: 'formdata', formdata: [{ key: 'a', value: '{{pin}}' }] } }],
  ['a value in the query', { url: '{{base}}/try?a={{pin}}' }],
  ['a value in the path', { url: '{{base}}/{{pin}}/x' }],
  [
    'set by a script',
    { event: [exec('prerequest', "request.setHeader('Authorization', pm.variables.get('secret'))")] },
  ],
  [
    'encoded by a script',
    { event: [exec('prerequest', "request.body = encodeURIComponent(pm.variables.get('secret'))")] },
  ],
  [
    'what an answer gave',
    { event: [exec('prerequest', "pm.collectionVariables.set('token', 'from-the-login')")], ...raw('{{token}}') },
  ],
];

function oauth(url: string) {
  return {
    grant_type: 'client_credentials',
    accessTokenUrl: url,
    clientId: 'me',
    clientSecret: '{{secret}}',
    addTokenTo: 'header',
    tokenType: 'application',
  };
}

/** How a script gets a request of the collection to go elsewhere. */
const WAYS: readonly [way: string, vars: object, more: { url?: string; event?: object[] }][] = [
  ['vars', { base: other.origin }, {}],
  ['a name of this machine', { base: `http://localhost:${other.port}` }, {}],
  ['another spelling', { base: `http://127.1:${other.port}` }, {}],
  ['a user in the address', { base: `http://x:y@127.0.0.1:${other.port}` }, {}],
  ['a variable of a variable', { base: '{{elsewhere}}', elsewhere: other.origin }, {}],
  ['an unset variable', { none: other.origin }, { url: '{{none}}/try' }],
  ['a path that is an authority', { rest: `@127.0.0.1:${other.port}/` }, { url: 'http://127.0.0.1{{rest}}' }],
  ['the environment', {}, { event: [exec('prerequest', `pm.environment.set('base', '${'{'}other}')`)] }],
  ['request.url', {}, { event: [exec('prerequest', 'request.url = pm.variables.get("to")')] }],
  ['a redirect', { base: `${shop.origin}/to/${encodeURIComponent(other.origin)}` }, {}],
];

const CREDENTIAL_CASES: readonly Case[] = AUTHS.flatMap(([what, request]) =>
  WAYS.map(([way, vars, more]): Case => {
    const { event = [], url, ...rest } = request as { event?: object[]; url?: string };
    const path = url?.replace('{{base}}', '') ?? '/try';
    const set = `pm.environment.set('base', '${other.origin}')`;
    const events = way === 'the environment' ? [exec('prerequest', set)] : (more.event ?? []);
    const to = more.url === undefined ? `{{base}}${path}` : more.url.replace('/try', path);
    const led = way === 'request.url' ? { to: `${other.origin}${path}` } : vars;
    return [`${what} by ${way}`, { ...rest, url: to, event: [...event, ...events] }, led];
  }),
);

t.test('Credentials of a collection go to its own origins only', async (t) => {
  const cases = sampled(CREDENTIAL_CASES, { name: 'request credentials', count: 22 });
  for (const [what, request, vars] of cases) {
    const { error } = await run(request, vars);
    const sent = leaked(other);
    for (const secret of [SECRET, encodeURIComponent(SECRET), 'marked-4711', 'used-in-auth', 'from-the-login']) {
      t.notOk(sent.includes(secret), `${what}: ${sent}`);
    }
    t.notMatch(sent, /authorization|"cookie|x-api-key|token"|granted|x-auth-secret|x-session/i, what);
    t.notOk(error !== null && JSON.stringify([error.message, error]).includes('sekrit'), what);
  }
});

t.test('What is refused says which line opens it, and that line does', async (t) => {
  const request = { auth: auth('bearer', { token: '{{secret}}' }) };
  const vars = { base: other.origin };
  const { error } = await run(request, vars);
  t.match(error, { code: 'REQUEST_FAILED', details: { cause: 'ORIGIN', origin: other.origin } });
  t.ok(error?.message.includes(`"${other.origin}"`) && error.message.includes('requests/origins.json'));
  const origins = join(requestsDir, 'origins.json');
  t.teardown(() => rmSync(origins, { force: true }));
  for (const list of [[other.origin], [`${other.origin}/`, 'https://shop.test'], ['http://127.0.0.1:*']]) {
    writeFileSync(origins, JSON.stringify(list));
    t.equal((await run(request, vars)).error, null, JSON.stringify(list));
  }
  for (const list of ['{}', '["not an origin"]', '["http://127.0.0.1:9/path"]', '[1]', '[', '"http://127.0.0.1:*"']) {
    writeFileSync(origins, list);
    t.match((await run(request, vars)).error, { code: 'REQUEST_FAILED', message: /origins\.json/ }, list);
    t.equal((await run(request)).error, null, 'its own origins need no list');
  }
  for (const list of [
    ['https://127.0.0.1:*'],
    [`http://localhost:${other.port}`],
    [`https://127.0.0.1:${other.port}`],
  ]) {
    writeFileSync(origins, JSON.stringify(list));
    t.match((await run(request, vars)).error, { code: 'REQUEST_FAILED' }, JSON.stringify(list));
  }
});

t.test('Credentials go where the collection says, and anything else goes anywhere', async (t) => {
  for (const [what, request] of AUTHS) t.equal((await run(request)).error, null, what);
  t.match(leaked(shop), /try/);
  for (const request of [
    raw('{"name": "{{name}}"}'),
    header('X-Trace', '{{name}}'),
    header('Idempotency-Key', '{{name}}'),
    header('Accept', 'text/plain'),
    file('photo.txt'),
    raw('an application with a header of {{site}} at {{tokenUrl}}'),
  ]) {
    t.equal((await run(request, { base: other.origin, name: 'ada' })).error, null, JSON.stringify(request));
    t.equal(other.heard.length, 1);
  }
  const script = `pm.sendRequest({ url: '${other.origin}/x', header: [{ key: 'Authorization', value: 'own' }] })`;
  t.equal((await run({ event: [exec('prerequest', script)] })).error, null);
  t.match(leaked(other), /own/, 'an address that the collection has in a script is its own');
});

t.test('pm.sendRequest and the token endpoint keep the same rule', async (t) => {
  const cases: readonly Case[] = [
    ['a token endpoint', { auth: auth('oauth2', oauth('{{to}}/token')) }, { to: other.origin }],
    [
      'a token endpoint with the secret in the body',
      { auth: auth('oauth2', { ...oauth('{{to}}/token'), client_authentication: 'body' }) },
      { to: other.origin },
    ],
    ...[
      "header: [{ key: 'Authorization', value: 'Bearer ' + pm.variables.get('secret') }]",
      "body: { mode: 'raw', raw: '{{secret}}' }",
    ]
      .flatMap((part) => [`{ url: pm.variables.get('to'), method: 'POST', ${part} }`])
      .concat(
        "{ url: pm.variables.get('to') + '?a={{secret}}' }",
        "pm.variables.get('to') + '?a=' + encodeURIComponent(pm.variables.get('secret'))",
        "{ url: '{{to}}', method: 'POST', header: [{ key: 'Cookie', value: 'a=b' }] }",
      )
      .map(
        (wanted): Case => [wanted, { event: [exec('prerequest', `pm.sendRequest(${wanted})`)] }, { to: other.origin }],
      ),
  ];
  for (const [what, request, vars] of cases) {
    t.match((await run(request, vars)).error, { message: /origins\.json/ }, what);
    t.equal(other.heard.length, 0, what);
  }
});

t.test('A secret is not read out of an error', async (t) => {
  for (const base of [
    'http://{{secret}}.invalid',
    'http://127.0.0.1:1/{{secret}}',
    'http://127.0.0.1:1/{{pin}}',
    '{{pin}}://x',
  ]) {
    const { error } = await run(raw('x'), { base });
    t.ok(error, base);
    t.notMatch(JSON.stringify([error?.message, error]), /sekrit|marked-4711/i, base);
  }
});

const HOSTS: readonly string[] = [
  '127.0.0.1',
  'localhost',
  'LOCALHOST',
  'localhost.',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '１２７.0.0.1',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  '0.0.0.0',
  '0',
  '127.0.0.2',
  '127.255.255.254',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  'x.localhost',
  'user:word@127.0.0.1',
];
const OWN_CASES: readonly Case[] = HOSTS.flatMap((host): Case[] => {
  const to = `http://${host}:${own.port}`;
  return [
    [`the request to ${host}`, {}, { base: to }],
    [`a redirect to ${host}`, {}, { base: `${shop.origin}/to/${encodeURIComponent(`${to}/api/sessions`)}` }],
    [`pm.sendRequest to ${host}`, { event: [exec('prerequest', `pm.sendRequest('${to}')`)] }, {}],
    [`the token endpoint at ${host}`, { auth: auth('oauth2', oauth(to)) }, {}],
  ];
});

t.test('The service itself is not reached, by whatever name or address', async (t) => {
  for (const [what, request, vars] of sampled(OWN_CASES, { name: 'request own port', count: 20 })) {
    const { error } = await run(request, vars);
    t.ok(error, what);
    t.equal(own.heard.length, 0, what);
  }
});

t.test('The service itself is not reached by a name that leads to this machine', async (t) => {
  const send = async (host: string, addresses: readonly string[]) => {
    const reach = serviceReach({ ownPort: own.port, egress: { service: {}, session: {} } }, (_name, answer) =>
      answer(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
    );
    const sender = new HttpSender(reach);
    own.heard.length = 0;
    try {
      const settings = { followRedirects: true, verifyTls: false, encodeUrl: true };
      const request = { method: 'GET', url: host, headers: [], withoutHeaders: [], body: { kind: 'none' } } as const;
      const answer = await sender.send({ ...request, settings }, { timeoutMs: 10_000, folder: '.' });
      await answer.dispose();
      return 'reached';
    } catch (error) {
      return error;
    } finally {
      sender.close();
    }
  };
  for (const addresses of [
    ['127.0.0.1'],
    ['127.0.0.1', '127.0.0.1'],
    ['::1'],
    ['::1', '127.0.0.1'],
    ['127.0.0.7'],
    ['127.255.255.254'],
    ['0.0.0.0'],
    ['::'],
    ['::ffff:127.0.0.1'],
    ['::ffff:7f00:1'],
    ['::127.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['64:ff9b:1::7f00:1'],
    ['2002:7f00:1::'],
    ['192.0.2.1', '127.0.0.1'],
    ['127.0.0.1', '192.0.2.1'],
    ['169.254.169.254'],
    ['fe80::1'],
    ['fd00:ec2::254'],
    ['127.0.0.1', '169.254.169.254'],
  ]) {
    for (const scheme of ['http', 'https']) {
      const end = await send(`${scheme}://harmless.test:${own.port}/`, addresses);
      t.match(end, { code: 'REQUEST_FAILED', details: { cause: 'EGRESS' } }, `${scheme} ${addresses}`);
      t.equal(own.heard.length, 0);
    }
  }
  t.equal(await send(`http://harmless.test:${shop.port}/`, ['127.0.0.1']), 'reached', 'other ports are open');
});

t.test('A connection that turns out to lead to the service is cut before a byte has passed', async (t) => {
  const reach = serviceReach({ ownPort: own.port, egress: { service: {}, session: {} } });
  // As if the rules had not known the address: what is left is the connection.
  const blind = new HttpSender({ ...reach, admit: () => undefined, lookup: () => lookup });
  t.teardown(() => blind.close());
  const connections: string[] = [];
  const onConnection = (socket: Socket) => socket.on('data', (chunk) => connections.push(String(chunk)));
  own.server.on('connection', onConnection);
  t.teardown(() => own.server.off('connection', onConnection));
  const settings = { followRedirects: true, verifyTls: false, encodeUrl: true };
  for (const url of ['http://127.0.0.1', 'http://localhost', 'https://127.0.0.1', 'https://localhost']) {
    const request = {
      method: 'POST',
      headers: [],
      withoutHeaders: [],
      body: { kind: 'text', text: 'a body' },
    } as const;
    await t.rejects(
      blind.send({ ...request, url: `${url}:${own.port}/`, settings }, { timeoutMs: 10_000, folder: '.' }),
      { code: 'REQUEST_FAILED', details: { cause: 'EGRESS' } },
      url,
    );
  }
  t.same(connections, []);
});
