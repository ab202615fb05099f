import { once } from 'node:events';
import t from 'tap';
import WebSocket from 'ws';
import type { GatewayAnswered } from '#troupe/gateway/server.js';
import type { Role } from '#troupe/protocol/access.js';
import { openHouse } from '../support/house.js';
import { type HttpCall, httpCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const house = await openHouse(t);
const { sessions } = house;
const changes: GatewayAnswered[] = [];
const gateway = await house.listen({ onAnswered: (answered) => answered.changes && changes.push(answered) });

const call = (method: string, path: string, token?: string, more: Partial<HttpCall> = {}) =>
  httpCall(gateway.url, { method, path, ...more, headers: { ...bearer(token), ...more.headers } });

t.test('Whoever looks for a Chrome at the address of the service finds /cdp, and no browser is started', async (t) => {
  const ws = gateway.url.replace('http', 'ws');
  const version = {
    Browser: 'Chrome/147.0.7727.56',
    'Protocol-Version': '1.3',
    'User-Agent': /^Mozilla\/5\.0 .* HeadlessChrome\/147\.0\.0\.0 Safari\/537\.36$/,
    'V8-Version': '14.7',
    'WebKit-Version': '537.36',
  };
  for (const slash of ['', '/']) {
    const found = await call('GET', `/json/version${slash}`);
    t.match(found, { status: 200, json: { ...version, webSocketDebuggerUrl: `${ws}/cdp` } });
    for (const path of ['/json/list', '/json']) {
      t.match(await call('GET', `${path}${slash}`), { status: 200, text: '[]' });
    }
  }
  const asked = await call('GET', '/json/version?timeout=60000&launch=%7B%7D');
  t.match(asked.json, { webSocketDebuggerUrl: `${ws}/cdp?timeout=60000&launch=%7B%7D` });
  const wrong = await call('GET', '/json/version?timeout=soon');
  t.match(wrong, { status: 400, json: { code: 'INVALID_REQUEST', error: /"timeout"/ } });
  for (const [method, path] of [
    ['PUT', '/json/new'],
    ['GET', '/json/activate/T'],
    ['GET', '/json/protocol/'],
  ] as const) {
    t.match(await call(method, path), { status: 404, json: { code: 'NOT_FOUND', error: /connect to .*\/cdp/ } });
  }
  for (const headers of [{ host: 'evil.test' }, { origin: 'http://evil.test' }]) {
    const refused = await call('GET', '/json/version', undefined, { headers });
    t.match(refused, { status: 403, json: { code: 'FORBIDDEN_ORIGIN' } });
  }
  t.same(await sessions.list({ limit: 10 }), []);
  t.equal(house.browsers.started, 0);
});

t.test("The service is open until the first token is created, which must be an admin's, and never again", async (t) => {
  t.equal((await call('GET', '/api/sessions')).status, 200);
  const first = { name: 'first', role: 'run' } as const;
  t.match(await call('POST', '/api/tokens', undefined, { body: JSON.stringify(first) }), {
    status: 400,
    json: { code: 'INVALID_REQUEST' },
  });
  const made = await call('POST', '/api/tokens', undefined, { body: '{"name": "me", "role": "admin"}' });
  t.equal(made.status, 201);
  t.equal((await call('GET', '/api/sessions')).status, 401);
  const { id, token } = Object(made.json);
  t.match(token, /^troupe_[\w-]{43}$/);
  t.match(await call('DELETE', `/api/tokens/${id}`, token), { status: 400, json: { code: 'INVALID_REQUEST' } });
  await sessions.tokens.revoke(id, true);
  t.match(await call('GET', '/api/sessions'), { status: 401, json: { error: /troupe token create/ } });
});

t.test('A sufficient role is admitted, by token and by cookie, until it is revoked', async (t) => {
  const tokens = await tokensOfEachRole();
  t.equal((await call('GET', '/api/sessions', tokens.view)).status, 200);
  t.match(await call('POST', '/api/sessions', tokens.run), { status: 201, json: { startedBy: 'a run' } });
  t.equal((await call('GET', '/api/tokens', tokens.admin)).status, 200);
  const login = { body: JSON.stringify({ token: tokens.view }) };
  const [setCookie = ''] = [(await call('POST', '/api/login', undefined, login)).headers['set-cookie']].flat();
  const [cookie = ''] = setCookie.split(';');
  t.notMatch(setCookie, tokens.view);
  t.equal((await call('GET', '/api/sessions', undefined, { headers: { cookie } })).status, 200);
  t.equal((await call('POST', '/api/sessions', undefined, { headers: { cookie } })).status, 403);
  t.equal((await call('GET', '/api/sessions', undefined, { headers: { cookie: `${cookie}x` } })).status, 401);
  const viewer = sessions.tokens.find(tokens.view);
  t.equal((await call('DELETE', `/api/tokens/${viewer?.id}`, tokens.admin)).status, 200);
  t.equal((await call('GET', '/api/sessions', tokens.view)).status, 401);
  t.equal((await call('GET', '/api/sessions', undefined, { headers: { cookie } })).status, 401);
});

t.test('Tokens are shown once and never stored', async (t) => {
  const { admin } = await tokensOfEachRole();
  const listed = await call('GET', '/api/tokens', admin);
  t.notMatch(listed.text, 'troupe_');
  t.notMatch(listed.text, 'hash');
});

t.test('The WebSocket requires a token, and a host and origin of this service', async (t) => {
  const tokens = await tokensOfEachRole();
  const statusOf = async (headers: { [name: string]: string }) => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/stream`, { headers });
    const [outcome] = await Promise.race([
      once(socket, 'open').then(() => [101]),
      once(socket, 'unexpected-response').then(([, response]) => [response.statusCode]),
    ]);
    socket.on('error', () => undefined);
    socket.terminate();
    return outcome;
  };
  t.equal(await statusOf({}), 401);
  t.equal(await statusOf(bearer('troupe_wrong')), 401);
  t.equal(await statusOf(bearer(tokens.view)), 101);
  t.equal(await statusOf({ ...bearer(tokens.view), origin: 'http://evil.test' }), 403);
  t.equal(await statusOf({ ...bearer(tokens.view), host: 'evil.test' }), 403);
});

t.test('The address of /cdp has the token that was in the query, and never one of a header', async (t) => {
  const { run, view } = await tokensOfEachRole();
  const ws = gateway.url.replace('http', 'ws');
  t.match((await call('GET', '/json/version', run)).json, { webSocketDebuggerUrl: `${ws}/cdp` });
  const basic = { authorization: `Basic ${Buffer.from(`ci:${run}`).toString('base64')}` };
  const byPassword = await call('GET', '/json/version', undefined, { headers: basic });
  t.match(byPassword.json, { webSocketDebuggerUrl: `${ws}/cdp` });
  t.notMatch(byPassword.text, run);
  const byQuery = await call('GET', `/json/version/?token=${run}`);
  t.match(byQuery.json, { webSocketDebuggerUrl: `${ws}/cdp?token=${run}` });
  for (const path of ['/json/version', '/json/list', '/json/new']) {
    t.equal((await call('GET', path)).status, 401, path);
    t.equal((await call('GET', `${path}?token=troupe_wrong`)).status, 401, path);
    t.equal((await call('GET', path, view)).status, 403, path);
  }
  const proxied = await house.listen({ publicUrl: 'https://troupe.example/' });
  const { id } = await house.live();
  for (const [path, at] of [
    ['/json/version', '/cdp'],
    [`/sessions/${id}/cdp/json/version`, `/sessions/${id}/cdp`],
  ]) {
    const found = await httpCall(proxied.url, { method: 'GET', path: `${path}`, headers: bearer(run) });
    t.match(found.json, { webSocketDebuggerUrl: `wss://troupe.example${at}` }, 'as the clients of the proxy reach it');
  }
});

t.test('Every change is reported with its caller, route and outcome', async (t) => {
  const tokens = await tokensOfEachRole();
  changes.length = 0;
  await call('GET', '/api/sessions', tokens.run);
  await call('POST', '/api/sessions', tokens.view);
  await call('POST', '/api/jobs', tokens.run, { body: '{}' });
  await call('POST', '/api/jobs', 'troupe_wrong', { body: '{}' });
  t.match(changes, [
    { principalName: 'a view', method: 'POST', path: '/api/sessions', status: 403, address: '127.0.0.1' },
    { principalName: 'a run', method: 'POST', path: '/api/jobs', status: 400 },
    { principalName: null, method: 'POST', path: '/api/jobs', status: 401 },
  ]);
  t.equal(changes.length, 3);
});

async function tokensOfEachRole(): Promise<Record<Role, string>> {
  const make = async (role: Role) => (await sessions.tokens.create({ name: `a ${role}`, role }, true)).token;
  return { view: await make('view'), run: await make('run'), admin: await make('admin') };
}

function bearer(token: string | undefined): { [name: string]: string } {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
