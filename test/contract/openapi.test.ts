import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { Validator } from '@seriousme/openapi-schema-validator';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { routeErrors } from '#troupe/gateway/openapi/route-errors.js';
import type { Route } from '#troupe/gateway/route.js';
import { ROUTES } from '#troupe/gateway/routes/route-table.js';
import { Gateway, type GatewayOptions } from '#troupe/gateway/server.js';
import { SessionId } from '#troupe/protocol/session.js';
import { type HttpCall, httpCall } from '../support/http-call.js';
import { InMemorySessions } from '../support/in-memory-sessions.js';
import { guardLeaks } from '../support/leaks.js';
import { routeTable } from '../support/route-table.js';

guardLeaks(t);

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});

/** Answers that take a browser or a full service: the test that shows each, and the word that it looks for. */
const SHOWN_ELSEWHERE: { readonly [answer: string]: readonly [file: string, word: string] } = {
  'POST /sessions/{id}/proxy 429': ['test/actors/session/script-queue.test.ts', 'CAPACITY'],
  'POST /sessions/{id}/proxy 502': ['test/service/thread-loss.test.ts', 'SESSION_RESTARTED'],
  'POST /sessions/{id}/proxy 504': ['test/service/live-session.test.ts', 'EVAL_TIMEOUT'],
  'POST /api/sessions 502': ['test/actors/session/browser.test.ts', 'WORKER_LOST'],
  'POST /api/sessions/run 429': ['test/supervisor/admission.test.ts', 'assertQueueHasRoom'],
  'POST /api/jobs 429': ['test/supervisor/admission.test.ts', 'assertQueueHasRoom'],
  'POST /api/batches 429': ['test/supervisor/admission.test.ts', 'assertQueueHasRoom'],
  'PUT /api/sessions/{id}/files/{name} 413': ['test/gateway/streams.test.ts', '413'],
  'POST /api/tokens 429': ['test/supervisor/access-tokens.test.ts', 'CAPACITY'],
  'DELETE /api/tokens/{id} 400': ['test/supervisor/access-tokens.test.ts', 'the last admin'],
  'GET /api/events 429': ['test/gateway/events.test.ts', '429'],
  'GET /api/sessions/{id}/events 429': ['test/gateway/events.test.ts', '429'],
  'GET /api/batches/{id}/events 429': ['test/gateway/events.test.ts', '429'],
  'POST /mcp 429': ['test/gateway/mcp/mcp-endpoint.test.ts', '429'],
};

/** By route, the statuses that were seen, each with the codes that came with it. */
const seen = new Map<Route, Map<number, Set<string>>>();

async function listen(options: Partial<GatewayOptions>): Promise<Gateway> {
  const gateway = await Gateway.listen({ host: '127.0.0.1', port: 0, allowedHosts: [], ...options });
  t.teardown(() => gateway.close(1000));
  return gateway;
}

/** The head of an answer, and its JSON; a stream is let go of. */
function ask(
  url: string,
  { method, path, headers, body }: HttpCall,
): Promise<{ status: number; json: unknown; close(): void }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, method, path, headers, agent: false, signal: AbortSignal.timeout(20_000) });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const status = response.statusCode ?? 0;
      const close = () => void response.destroy();
      if (!response.headers['content-type']?.includes('json')) return resolve({ status, json: undefined, close });
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve({ status, json: JSON.parse(text), close }));
    });
    sent.end(body);
  });
}

/** Makes a call, and notes what a route answered: a success must be as its schema says, and hold nothing else. */
async function see(t: Test, url: string, route: Route, call: Partial<HttpCall> = {}): Promise<void> {
  const path =
    call.path ??
    route.path.replace('{id}', 'zzzzzzzzzzzz').replace('{name}', 'a.txt').replace('{path...}', 'no/such.js');
  const answer = await ask(url, { method: route.method, ...call, path });
  note(t, route, answer);
  answer.close();
}

function note(t: Test, route: Route, { status, json }: { readonly status: number; readonly json: unknown }): void {
  const label = `${route.method} ${route.path} ${status}`;
  const codes = seen.get(route)?.get(status) ?? new Set();
  seen.set(route, (seen.get(route) ?? new Map()).set(status, codes));
  const code: unknown = Reflect.get(Object(json), 'code');
  if (typeof code === 'string') codes.add(code);
  const documented = routeErrors(route).get(status);
  if (status === route.status) {
    if (typeof route.answer !== 'string') t.same(route.answer.parse(json), json, `${label} has its documented form`);
  } else if (typeof code === 'string') {
    t.ok(
      documented?.some((known) => known === code),
      `${label} ${code} is documented`,
    );
  } else {
    t.ok(route.also[status], `${label} is documented`);
  }
}

t.test('The document is valid OpenAPI 3.1, for every route and no other', async (t) => {
  const gateway = await listen({ sessions: new InMemorySessions() });
  const { json } = await httpCall(gateway.url, { method: 'GET', path: '/api/openapi.json' });
  const result = await new Validator().validate(z.record(z.string(), z.unknown()).parse(json));
  t.same(result.errors ?? [], []);
  const { paths } = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) }).parse(json);
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  t.same(described.sort(), ROUTES.map(({ method, path }) => `${method} ${path.replace('...', '')}`).sort());
});

t.test('Every route answers what is documented when it is asked wrongly, by strangers, and too early', async (t) => {
  const sessions = new InMemorySessions();
  const gateway = await listen({ sessions });
  const guarded = await listen({ sessions, token: 'correct-horse' });
  const early = await listen({});
  for (const route of ROUTES) {
    await see(t, gateway.url, route, { headers: { host: 'evil.test' } });
    await see(t, early.url, route);
    if (route.role !== null) await see(t, guarded.url, route);
  }
  const live = await sessions.createLive({}, { caller: 'a test', signal: new AbortController().signal });
  for (const { call } of routeTable({ liveId: live.id })) {
    const route = ROUTES.find(({ method, path }) => method === call.method && fits(path, call.path));
    if (route === undefined) continue;
    const answer = await httpCall(gateway.url, call);
    // A method may also be asked of a path that another route has with this one's form.
    if (answer.status !== 405) note(t, route, answer);
  }
});

t.test('Every route answers what is documented when it is asked rightly', async (t) => {
  const sessions = new InMemorySessions();
  const gateway = await listen({ sessions, token: 'correct-horse' });
  const headers = { authorization: 'Bearer correct-horse' };
  const by = (method: string, path: string) => {
    const route = ROUTES.find((one) => one.method === method && one.path === path);
    if (route === undefined) throw new Error(`There is no ${method} ${path}`);
    return (id: string, body?: string, more: { [name: string]: string } = {}) =>
      see(t, gateway.url, route, {
        path: path
          .replace('{path...}', 'quick.js')
          .replace('{id}', id)
          .replace('{name}', path.includes('screenshots') ? '001-step.png' : 'a.txt'),
        headers: { ...headers, ...more },
        ...(body === undefined ? {} : { body }),
      });
  };
  const { id } = await sessions.createLive({}, { caller: 'a test', signal: new AbortController().signal });
  const job = '{"prompt": "x", "flowFiles": ["quick.js"], "maxIterations": 0}';
  const missing = '{"prompt": "x", "flowFiles": ["no.js"], "maxIterations": 0}';
  await by('GET', '/api/flows/{path...}')(id);
  for (const path of [
    '/',
    '/api/flows',
    '/api/stats',
    '/api/tokens',
    '/metrics',
    '/api/health',
    '/api/models',
    '/api/sessions',
    '/api/jobs',
    '/api/events',
    '/api/openapi.json',
  ]) {
    await by('GET', path)(id);
  }
  await by('POST', '/api/login')(id, '{"token": "correct-horse"}');
  await by('POST', '/api/login')(id, '{"token": "x"}');
  await by('DELETE', '/api/login')(id);
  await by('POST', '/api/tokens')(id, '{"name": "ci", "role": "admin"}');
  const [token] = sessions.tokens.list();
  await by('DELETE', '/api/tokens/{id}')(token?.id ?? '');
  await by('PUT', '/api/sessions/{id}/files/{name}')(id, 'content');
  await by('GET', '/api/sessions/{id}/screenshots/{name}')(id);
  await by('GET', '/api/sessions/{id}/files/{name}')(id);
  const page = (await httpCall(gateway.url, { method: 'GET', path: '/' })).text;
  const asset = /assets\/([\w.-]+)/.exec(page)?.[1] ?? '';
  const assets = ROUTES.find(({ path }) => path === '/assets/{name}');
  if (assets === undefined) throw new Error('There is no route of assets');
  await see(t, gateway.url, assets, { path: `/assets/${asset}` });
  await see(t, gateway.url, assets);
  for (const path of ['', '/files', '/report', '/download', '/events'])
    await by('GET', `/api/sessions/{id}${path}`)(id);
  await by('GET', '/api/sessions/{id}/webhooks')(id);
  await by('POST', '/api/sessions/{id}/webhooks')(id, '{}');
  await by('GET', '/sessions/{id}/prompt')(id);
  await by('POST', '/sessions/{id}/proxy')(id, '{"js": "1 + 1"}');
  await by('POST', '/sessions/{id}/proxy')(id, '{"js": "null.x"}');
  for (const slash of ['', '/']) await by('GET', `/sessions/{id}/cdp/json/version${slash}`)(id);
  const shared = by('POST', '/api/sessions/{id}/links');
  await shared(id, '{}');
  const opening = ROUTES.find(({ path }) => path === '/shared/{link}');
  if (opening === undefined) throw new Error('There is no route of links');
  await see(t, gateway.url, opening, { path: `/shared/${sessions.links.make(id, 60).link}` });
  await see(t, gateway.url, opening, {
    path: `/shared/${sessions.links.make(SessionId.parse('zzzzzzzzzzzz'), 60).link}`,
  });
  await see(t, gateway.url, opening, { path: '/shared/none' });
  const control = by('POST', '/api/sessions/{id}/control');
  for (const take of [true, true, false]) await control(id, JSON.stringify({ take }));
  for (const path of ['/api/sessions', '/api/jobs', '/api/sessions/run']) {
    const task =
      path === '/api/sessions'
        ? { body: job.replace('{', '{"mode": "auto", '), missing: missing.replace('{', '{"mode": "auto", ') }
        : { body: job, missing };
    await by('POST', path)(id, task.body);
    await by('POST', path)(id, task.missing);
    await by('POST', path)(id, '{', {});
  }
  await by('POST', '/api/batches')(id, `{"jobs": [${job}]}`);
  await by('POST', '/api/batches')(id, `{"jobs": [${missing}]}`);
  const batch = await sessions.batches.create(
    { jobs: [{ prompt: 'x', flowFiles: ['quick.js'], maxIterations: 0 }] },
    { caller: 'a test', signal: new AbortController().signal },
  );
  for (const path of ['', '/download', '/junit', '/events']) await by('GET', `/api/batches/{id}${path}`)(batch.id);
  await by('GET', '/api/batches/{id}/events')(batch.id, undefined, { 'last-event-id': '1' });
  await by('DELETE', '/api/batches/{id}')(batch.id);
  for (let count = 0; count < 3; count += 1) await by('POST', '/api/sessions')(id);
  const [ended] = await sessions.list({ mode: 'auto' });
  if (ended === undefined) throw new Error('There is no job');
  for (const path of ['', '/download']) await by('GET', `/api/jobs/{id}${path}`)(ended.id);
  for (const slash of ['', '/']) await by('GET', `/sessions/{id}/cdp/json/version${slash}`)(ended.id);
  await by('DELETE', '/api/sessions/{id}')(id);
  await by('GET', '/sessions/{id}/prompt')(id);
  await by('PUT', '/api/sessions/{id}/files/{name}')(id, 'content');
  await by('POST', '/sessions/{id}/proxy')(id, '{"js": "1"}');
  await by('GET', '/api/sessions/{id}/events')(id, undefined, { 'last-event-id': String(sessions.streams.lastSeq()) });
  const call = { method: 'POST', path: '/mcp', headers, body: INITIALIZE };
  const session = (await httpCall(gateway.url, call)).headers['mcp-session-id'];
  const mcp = { 'mcp-session-id': String(session) };
  for (const method of ['POST', 'GET', 'DELETE']) {
    await by(method, '/mcp')(id, method === 'POST' ? INITIALIZE : undefined);
    await by(method, '/mcp')(id, method === 'POST' ? '{"jsonrpc": "2.0", "id": 2, "method": "ping"}' : undefined, {
      'mcp-session-id': 'x',
    });
  }
  await by('POST', '/mcp')(id, '{"jsonrpc": "2.0", "method": "notifications/initialized"}', mcp);
  await by('POST', '/mcp')(id, '{"jsonrpc": "2.0", "id": 3, "method": "ping"}', { ...mcp, accept: 'text/html' });
  await by('POST', '/mcp')(id, '{}', mcp);
  await by('POST', '/mcp')(id, ' '.repeat(2 * 1024 * 1024), mcp);
  const standing = ROUTES.find(({ method, path }) => method === 'GET' && path === '/mcp');
  if (standing === undefined) throw new Error('There is no GET /mcp');
  const stream = await ask(gateway.url, { method: 'GET', path: '/mcp', headers: { ...headers, ...mcp } });
  note(t, standing, stream);
  await by('GET', '/mcp')(id, undefined, mcp);
  stream.close();
  await by('GET', '/mcp')(id, undefined, { ...mcp, accept: 'text/html' });
  await by('DELETE', '/mcp')(id, undefined, mcp);
});

t.test('Every answer that is documented occurs', async (t) => {
  for (const route of ROUTES) {
    const documented = [route.status, ...Object.keys(route.also).map(Number), ...routeErrors(route).keys()];
    for (const status of new Set(documented)) {
      const label = `${route.method} ${route.path} ${status}`;
      const elsewhere = SHOWN_ELSEWHERE[label];
      if (elsewhere === undefined) {
        t.ok(seen.get(route)?.has(status), label);
      } else {
        const [file, word] = elsewhere;
        t.ok((await readFile(file, 'utf8')).includes(word), `${label} is shown by ${file}`);
      }
    }
  }
});

function fits(pattern: string, path: string): boolean {
  const [bare = ''] = path.split('?');
  const [left, right] = [pattern.split('/'), bare.split('/')];
  return left.length === right.length && left.every((part, index) => part.startsWith('{') || part === right[index]);
}
