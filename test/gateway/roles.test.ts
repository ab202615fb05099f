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
  t.equal((await call('POST', '/api/sessions', tokens.run)).status, 201);
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
