import t from 'tap';
import type { Gateway, GatewayOptions } from '#troupe/gateway/server.js';
import { eventually } from '../../support/eventually.js';
import { holdScripts } from '../../support/held-scripts.js';
import { openHouse } from '../../support/house.js';
import { httpCall } from '../../support/http-call.js';
import { guardLeaks } from '../../support/leaks.js';
import { McpAnswer, type WireCall } from '../../support/mcp-wire.js';

guardLeaks(t);

const NEWEST = '2025-11-25';
const PING = { jsonrpc: '2.0', id: 'ping', method: 'ping' };

/** Faults of the service itself, in all tests. */
const faults: unknown[] = [];

const house = await openHouse(t, { maxSessions: 20 });
const { sessions, browsers } = house;
const held = await holdScripts(t, house.home);
const open = (options: Partial<GatewayOptions> = {}) =>
  house.listen({ onFault: ({ error }) => faults.push(error), ...options });

/** Ends what a test left running, so that the next one starts with nothing. */
t.afterEach(async () => {
  held.finish();
  for (const { id } of await sessions.list({ limit: 1000 })) await sessions.remove(id, true);
});

function initialize(revision: string, id: number | string = 'init'): object {
  const clientInfo = { name: 'wire', version: '1' };
  return {
    jsonrpc: '2.0',
    id,
    method: 'initialize',
    params: { protocolVersion: revision, capabilities: {}, clientInfo },
  };
}

function evaluate(id: number | string, js: string, more: object = {}): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'agent_eval', arguments: { js }, ...more } };
}

function cancel(requestId: number | string): object {
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } };
}

/** An initialized client: the headers of its session, and calls with them. */
async function enter(gateway: Gateway, revision = NEWEST) {
  const answer = await McpAnswer.whole(gateway.url, { body: initialize(revision) });
  const headers = { 'mcp-session-id': String(answer.headers['mcp-session-id']), 'mcp-protocol-version': revision };
  return {
    headers,
    answer,
    to: (call: WireCall) => McpAnswer.to(gateway.url, { ...call, headers: { ...headers, ...call.headers } }),
    whole: (call: WireCall) => McpAnswer.whole(gateway.url, { ...call, headers: { ...headers, ...call.headers } }),
  };
}

t.test('Each revision is negotiated, and an unknown one becomes the newest', async (t) => {
  const gateway = await open();
  for (const revision of ['2025-03-26', '2025-06-18', NEWEST]) {
    const { answer } = await enter(gateway, revision);
    t.match(answer.answerTo('init'), { result: { protocolVersion: revision, serverInfo: { name: 'troupe' } } });
    t.match(answer.headers['mcp-session-id'], /^[0-9a-f-]{36}$/);
  }
  const { answer } = await enter(gateway, '1999-01-01');
  t.match(answer.answerTo('init').result.protocolVersion, NEWEST);
});

t.test('A message that needs no answer gets 202, a request a stream that ends', async (t) => {
  const client = await enter(await open());
  const note = await client.whole({ body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
  t.match(note, { status: 202, text: '' });
  const ping = await client.whole({ body: PING });
  t.match(ping, { status: 200, headers: { 'content-type': 'text/event-stream' } });
  t.same(ping.answerTo('ping'), { jsonrpc: '2.0', id: 'ping', result: {} });
  t.match((await client.whole({ body: { ...PING, method: 'nope' } })).answerTo('ping'), { error: { code: -32601 } });
});

t.test('Plain curl works: any content type, any accept', async (t) => {
  const gateway = await open();
  for (const accept of [{}, { accept: '*/*' }]) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...accept };
    const body = JSON.stringify(initialize(NEWEST));
    const answer = await httpCall(gateway.url, { method: 'POST', path: '/mcp', headers, body });
    t.match(answer, { status: 200, text: /"protocolVersion":"2025-11-25"/ });
  }
});

t.test('A request that cannot be served gets the right status', async (t) => {
  const gateway = await open();
  const client = await enter(gateway);
  const { headers } = client;
  const unknown = { 'mcp-session-id': 'c0ffee00-0000-4000-8000-000000000000' };
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
  const rows: [what: string, call: WireCall, status: number, code: number | string][] = [
    ['not JSON', { body: '{"jsonrpc": ' }, 400, -32700],
    ['an empty body', { body: '' }, 400, -32700],
    ['JSON that is no JSON-RPC', { body: { hello: 1 } }, 400, -32600],
    ['a null', { body: 'null' }, 400, -32600],
    ['a request whose id is null', { body: { ...PING, id: null } }, 400, -32600],
    ['another version of JSON-RPC', { body: { ...PING, jsonrpc: '1.0' } }, 400, -32600],
    ['what is nested without end', { body: deep }, 400, -32600],
    ['an empty batch', { body: [] }, 400, -32600],
    ['a batch, which ended with 2025-03-26', { body: [PING] }, 400, -32600],
    ['a batch that is too long', { body: Array(101).fill(PING) }, 400, -32600],
    ['no session', { body: PING, headers: { 'mcp-session-id': '' } }, 400, -32000],
    ['an unknown session', { body: PING, headers: unknown }, 404, -32001],
    ['an unknown session', { method: 'GET', headers: unknown }, 404, -32001],
    ['an unknown session', { method: 'DELETE', headers: unknown }, 404, -32001],
    ['an unknown revision', { body: PING, headers: { 'mcp-protocol-version': '1999-01-01' } }, 400, -32000],
    ['a client that takes no streams', { body: PING, headers: { accept: 'application/json' } }, 406, -32000],
    ['a client that takes no streams', { method: 'GET', headers: { accept: 'application/json' } }, 406, -32000],
    ['an event that never was', { method: 'GET', headers: { 'last-event-id': '99_x' } }, 400, -32000],
    ['no event id', { method: 'GET', headers: { 'last-event-id': "';--" } }, 400, -32000],
    ['10 MB', { body: `"${'x'.repeat(10_000_000)}"` }, 413, 'BODY_TOO_LARGE'],
    ['a foreign Origin', { body: PING, headers: { origin: 'http://evil.test' } }, 403, 'FORBIDDEN_ORIGIN'],
    ['a foreign Host', { body: PING, headers: { host: 'evil.test' } }, 403, 'FORBIDDEN_ORIGIN'],
  ];
  for (const [what, call, status, code] of rows) {
    const answer = await McpAnswer.whole(gateway.url, { ...call, headers: { ...headers, ...call.headers } });
    const said = JSON.parse(answer.text);
    t.same([answer.status, said.error?.code ?? said.code], [status, code], `${what} (${call.method ?? 'POST'})`);
  }
  t.equal((await client.whole({ body: PING })).status, 200, 'the session is as it was');
});

t.test('A configured token is required', async (t) => {
  const gateway = await open({ token: 'correct-horse' });
  t.equal((await McpAnswer.whole(gateway.url, { body: initialize(NEWEST) })).status, 401);
  const headers = { authorization: 'Bearer correct-horse' };
  t.equal((await McpAnswer.whole(gateway.url, { body: initialize(NEWEST), headers })).status, 200);
});

t.test('A batch of 2025-03-26 is answered completely', async (t) => {
  const client = await enter(await open(), '2025-03-26');
  const answer = await client.whole({ body: [PING, evaluate(2, '1 + 1'), evaluate(3, 'null.x')] });
  t.match(answer.answerTo('ping'), { result: {} });
  t.match(answer.answerTo(2), { result: { content: [{ text: '2' }] } });
  t.match(answer.answerTo(3), { result: { isError: true, content: [{ text: /^SCRIPT_ERROR at line 1: / }] } });
  t.equal((await client.whole({ body: [PING, PING] })).status, 400, 'but not one with an id twice');
});

t.test('A second request with the id of an open one is refused, and the first one gets its answer', async (t) => {
  const gateway = await open();
  const client = await enter(gateway);
  const first = await client.to({ body: evaluate(7, held.js) });
  await eventually('the script runs', () => held.running() === 1);
  t.match(await client.whole({ body: evaluate(7, '2') }), { status: 400, text: /"code":-32600.*already open/ });
  held.finish();
  await first.until(({ ended }) => ended);
  t.match(first.answerTo(7), { result: { content: [{ text: '1' }] } });
  t.equal((await client.whole({ body: evaluate(7, '2') })).status, 200, 'the id is free again');
});

t.test(
  'A cancelled script stops, its stream ends without an answer, and a client that resumes it learns why',
  async (t) => {
    const client = await enter(await open());
    const call = await client.to({ body: evaluate(7, held.js) });
    await eventually('the script runs', () => held.running() === 1);
    t.equal((await client.whole({ body: cancel(7) })).status, 202);
    await call.until(({ ended }) => ended);
    t.equal(call.answerTo(7), undefined);
    await eventually('the script has stopped', () => held.running() === 0);
    const rest = await client.whole({ method: 'GET', headers: { 'last-event-id': call.messages[0]?.id ?? '' } });
    t.match(rest.answerTo(7), { error: { message: /cancelled/ } });
    t.equal((await client.whole({ body: cancel('nobody') })).status, 202, 'what is not there is cancelled for nothing');
  },
);

t.test('A client whose connection broke resumes and gets its answer', async (t) => {
  const gateway = await open();
  const client = await enter(gateway);
  const call = await client.to({ body: evaluate(7, held.js) });
  await call.until(({ messages }) => messages.length === 1);
  t.equal(call.messages[0]?.data, null, 'an event that gives nothing but an id');
  call.cut();
  const last = { 'last-event-id': call.messages[0]?.id ?? '' };

  const early = await client.to({ method: 'GET', headers: last });
  await eventually('the script runs', () => held.running() === 1);
  held.finish();
  await early.until(({ ended }) => ended);
  t.match(early.answerTo(7), { result: { content: [{ text: '1' }] } }, 'while the script runs');
  const late = await client.whole({ method: 'GET', headers: last });
  t.match(late.answerTo(7), { result: { content: [{ text: '1' }] } }, 'and when it is over');
});

t.test('A GET stream stays open, sends comments, and there is only one', async (t) => {
  const gateway = await open({ keepAliveMs: 20 });
  const client = await enter(gateway);
  const stream = await client.to({ method: 'GET' });
  await stream.until(({ comments }) => comments >= 2);
  t.equal((await client.whole({ method: 'GET' })).status, 409);
  t.equal((await client.whole({ method: 'DELETE' })).status, 200);
  await stream.until(({ ended }) => ended);
  t.equal((await client.whole({ body: PING })).status, 404);
});

t.test('A client that is gone loses its browser, and learns it when it returns', async (t) => {
  const gateway = await open({ mcpGoneMs: 200 });
  const client = await enter(gateway);
  const stream = await client.to({ method: 'GET' });
  await client.whole({ body: evaluate(1, '1') });
  const running = async () => (await sessions.list({ state: 'running' })).length;
  t.equal(await running(), 1);
  stream.cut();
  await eventually('the browser is gone', async () => (await running()) === 0);
  const told = (await client.whole({ body: evaluate(2, '1') })).answerTo(2);
  t.match(told, {
    result: { isError: true, content: [{ text: /^SESSION_ENDED: .*its client was disconnected.*not run/ }] },
  });
  t.match((await client.whole({ body: evaluate(3, '1') })).answerTo(3), { result: { content: [{ text: '1' }] } });
});

t.test('The end of a session stops its open requests and releases its browser', async (t) => {
  const gateway = await open();
  const client = await enter(gateway);
  const call = await client.to({ body: evaluate(7, held.js) });
  await eventually('the script runs', () => held.running() === 1);
  t.equal((await client.whole({ method: 'DELETE' })).status, 200);
  await call.until(({ ended }) => ended);
  await eventually('the script has stopped', () => held.running() === 0);
  t.match(await sessions.list({}), [{ status: 'stopped', name: 'MCP: wire' }]);
});

t.test('If no browser is available, the model is asked to try again', async (t) => {
  const full = await openHouse(t, { maxSessions: 1, createTimeout: 4 });
  const gateway = await full.listen();
  const [first, second] = [await enter(gateway), await enter(gateway)];
  t.match((await first.whole({ body: evaluate(1, '1') })).answerTo(1), { result: { content: [{ text: /^1$/ }] } });
  const told = (await second.whole({ body: evaluate(1, '1') })).answerTo(1);
  t.match(told.result.content[0].text, /^CAPACITY: .*\n.*"retryAfterSeconds":5/);
});

t.test('A service that stops ends the streams of idle sessions, and waits for the answers of others', async (t) => {
  const gateway = await open();
  const [idle, busy] = [await enter(gateway), await enter(gateway)];
  const stream = await idle.to({ method: 'GET' });
  const call = await busy.to({ body: evaluate(7, held.js) });
  await eventually('the script runs', () => held.running() === 1);
  const closed = gateway.close(10_000);
  await stream.until(({ ended }) => ended);
  held.finish();
  await call.until(({ ended }) => ended);
  t.match(call.answerTo(7), { result: { content: [{ text: '1' }] } });
  await closed;
});

t.test('A client that disconnects in the middle of a call causes no harm', async (t) => {
  const gateway = await open();
  const client = await enter(gateway, '2025-06-18');
  const call = await client.to({ body: evaluate(7, held.js) });
  await eventually('the script runs', () => held.running() === 1);
  call.cut();
  t.equal((await client.whole({ body: PING })).status, 200);
  t.equal(held.running(), 1, 'a lost connection cancels nothing');
  held.finish();
  await eventually('the id is free again', async () => (await client.whole({ body: evaluate(7, '1') })).status === 200);
});

t.test('The number of open requests is limited', async (t) => {
  const client = await enter(await open());
  const release = browsers.holdStarts();
  t.teardown(release);
  const calls = Array.from({ length: 100 }, (_, n) => client.to({ body: evaluate(n, '1') }));
  const answers = await Promise.all(calls);
  const refused = await client.whole({ body: PING });
  t.match(refused, { status: 429, headers: { 'retry-after': '1' } });
  release();
  await Promise.all(answers.map((answer) => answer.until(({ ended }) => ended)));
  t.match(answers[0]?.answerTo(0), { result: { content: [{ text: '1' }] } });
  t.equal((await client.whole({ body: PING })).status, 200);
});

t.test('Beyond 500 sessions the least recently used one is ended', async (t) => {
  const gateway = await open();
  const [oldest, watched] = [await enter(gateway), await enter(gateway)];
  const stream = await watched.to({ method: 'GET' });
  for (let n = 0; n < 499; n += 1) await enter(gateway);
  t.equal((await oldest.whole({ body: PING })).status, 404);
  for (let n = 0; n < 10; n += 1) await enter(gateway);
  t.equal((await watched.whole({ body: PING })).status, 200, 'one that is in use does not');
  stream.cut();
});

t.test('None of this was a fault of the service', async (t) => {
  t.same(faults, []);
});

t.test('A session of an earlier start is a 404, and its client initializes again', async (t) => {
  const before = await open();
  const { headers } = await enter(before);
  await before.close(1000);
  const after = await open();
  t.equal((await McpAnswer.whole(after.url, { body: PING, headers })).status, 404);
  const again = await enter(after);
  t.equal((await again.whole({ body: PING })).status, 200);
});
