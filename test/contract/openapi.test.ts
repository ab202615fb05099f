import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import { z } from 'zod';
import { EXAMPLES } from '#troupe/gateway/openapi/examples.js';
import { openApiDocument } from '#troupe/gateway/openapi/openapi-document.js';
import { routeErrors } from '#troupe/gateway/openapi/route-errors.js';
import { TOPICS } from '#troupe/gateway/openapi/topics.js';
import { Gateway } from '#troupe/gateway/server.js';
import { SessionId } from '#troupe/protocol/session.js';
import { eventually } from '../support/eventually.js';
import { holdScripts } from '../support/held-scripts.js';
import { openHouse } from '../support/house.js';
import { type HttpCall, httpCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';
import { routeTable } from '../support/route-table.js';
import { ROUTES } from '../support/routes.js';
import { testedServer } from '../support/tested-server.js';
import { ask, routeOf, SeenAnswers } from './seen-answers.js';

guardLeaks(t);

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});

const MIB = 1024 * 1024;
const BEARER = { authorization: 'Bearer correct-horse' };
const JOB = { prompt: 'x', flowFiles: ['quick.js'], maxIterations: 0 };

const never = new AbortController().signal;
const bounds = { timeoutMs: 20_000, signal: never };

const answers = new SeenAnswers();
const house = await openHouse(t);
const { sessions } = house;
const held = await holdScripts(t, house.home);

/** A session that has failed on baselines; they are approved, approved too late, or not baselines at all. */
async function approvals(
  id: string,
  screenshots: string,
  approve: (id: string, body: string) => Promise<void>,
): Promise<void> {
  writeFileSync(join(screenshots, 'received.png'), 'a picture');
  const failedOn = (baseline: string) => {
    const details = { baseline, pictures: { received: 'received.png' } };
    const error = { code: 'MATCH_FAILED', error: 'looks otherwise', details } as const;
    const step = {
      index: 1,
      kind: 'flow',
      js: '',
      line: 1,
      durationMs: 1,
      url: '',
      title: '',
      screenshot: null,
      error,
    } as const;
    return { type: 'StepFinished', data: step } as const;
  };
  const path = (name: string) => `${name}.baselines/home.process-linux.png`;
  mkdirSync(join(house.home, 'flows', 'changed.baselines'), { recursive: true });
  writeFileSync(join(house.home, 'flows', path('changed')), 'another picture');
  for (const baseline of [
    path('quick'),
    path('changed'),
    'quick.js',
    path('../../out'),
    path('.git/x'),
    path('/etc'),
  ]) {
    await house.append(SessionId.parse(id), failedOn(baseline));
    await approve(id, JSON.stringify({ baseline }));
  }
  await approve(id, JSON.stringify({ baseline: path('unknown') }));
}

t.test('The document is valid OpenAPI 3.1, for every route and no other', async (t) => {
  const gateway = await house.listen();
  const { json } = await httpCall(gateway.url, { method: 'GET', path: '/api/openapi.json' });
  const result = await new Validator().validate(z.record(z.string(), z.unknown()).parse(json));
  t.same(result.errors ?? [], []);
  const { paths } = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) }).parse(json);
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  t.same(described.sort(), ROUTES.map(({ method, path }) => `${method} ${path.replace('...', '')}`).sort());
});

const Operation = z.looseObject({
  tags: z.array(z.string()),
  'x-role': z.string().optional(),
  'x-destructive': z.boolean().optional(),
  parameters: z.array(z.looseObject({ name: z.string(), required: z.boolean().optional() })).optional(),
});

t.test('Every route is in exactly one topic, and the document names its topic, its role, and what it destroys', (t) => {
  const listed = TOPICS.flatMap(({ routes }) => routes);
  t.same([...listed].sort(), ROUTES.map(({ method, path }) => `${method} ${path}`).sort());
  const document = z
    .object({
      tags: z.array(z.object({ name: z.string(), description: z.string().min(1) })),
      paths: z.record(z.string(), z.record(z.string(), Operation)),
    })
    .parse(openApiDocument(ROUTES, 'test'));
  t.same(
    document.tags.map(({ name }) => name),
    TOPICS.map(({ name }) => name),
  );
  for (const { method, path, role } of ROUTES) {
    const operation = document.paths[path.replace('...', '')]?.[method.toLowerCase()];
    const [topic, ...more] = TOPICS.filter(({ routes }) => routes.includes(`${method} ${path}`));
    t.same(operation?.tags, [topic?.name], `${method} ${path}`);
    t.same(more, []);
    t.equal(operation?.['x-role'] ?? null, role, `${method} ${path}: its role`);
    if (method === 'DELETE') t.equal(operation?.['x-destructive'], true, path);
    if (method === 'GET') t.equal(operation?.['x-destructive'], undefined, path);
  }
  const order = Object.values(document.paths).flatMap((methods) => Object.values(methods).map(({ tags }) => tags[0]));
  t.same([...new Set(order)], [...new Set(TOPICS.map(({ name }) => name))], 'the operations come by topic');
  const [challenge] = document.paths['/api/proof']?.get?.parameters ?? [];
  t.match(challenge, { name: 'challenge', required: true });
  t.end();
});

t.test('Every route answers invalid, unauthorized and early requests as documented', async (t) => {
  const gateway = await house.listen();
  const guarded = await house.listen({ token: 'correct-horse' });
  const early = await Gateway.listen({ server: testedServer(), host: '127.0.0.1', port: 0, allowedHosts: [] });
  t.teardown(() => early.close(1000));
  for (const route of ROUTES) {
    await answers.see(t, gateway.url, route, { headers: { host: 'evil.test' } });
    await answers.see(t, early.url, route);
    if (route.role !== null) await answers.see(t, guarded.url, route);
  }
  const live = await house.live();
  for (const { call } of routeTable({ liveId: live.id })) {
    const route = ROUTES.find(({ method, path }) => method === call.method && fits(path, call.path));
    if (route === undefined) continue;
    const answer = await httpCall(gateway.url, call);
    // The path may also match another route's pattern, which has the method.
    if (answer.status !== 405) answers.note(t, route, answer);
  }
});

t.test('Every route answers valid requests as documented', async (t) => {
  const gateway = await house.listen({ token: 'correct-horse' });
  const by = (method: string, path: string) => {
    const route = routeOf(method, path);
    return (id: string, body?: string, more: { [name: string]: string } = {}) =>
      answers.see(t, gateway.url, route, {
        path: path
          .replace('{path...}', path.includes('artifacts') ? 'screenshots/001-step.png' : 'quick.js')
          .replace('{id}', id)
          .replace('{name}', path.includes('screenshots') ? '001-step.png' : 'a.txt'),
        headers: { ...BEARER, ...more },
        ...(body === undefined ? {} : { body }),
      });
  };
  const { id } = await house.live();
  const screenshots = join(house.home, 'sessions', id, 'screenshots');
  mkdirSync(screenshots, { recursive: true });
  writeFileSync(join(screenshots, '001-step.png'), 'a picture');
  await approvals(id, screenshots, by('POST', '/api/sessions/{id}/baselines'));
  const missing = { ...JOB, flowFiles: ['no.js'] };
  await by('GET', '/api/flows/{path...}')(id);
  const save = by('PUT', '/api/flows/{path...}');
  for (const headers of [{}, { 'if-none-match': '*' }, { 'if-match': 'unquoted' }]) await save(id, '() => 1', headers);
  const put = routeOf('PUT', '/api/flows/{path...}');
  await answers.see(t, gateway.url, put, { path: '/api/flows/%E0%A4%A', headers: BEARER, body: '() => 1' });
  await answers.see(t, gateway.url, put, {
    path: '/api/flows/quick.js',
    headers: { ...BEARER, 'content-length': String(2 * MIB) },
  });
  await by('GET', '/api/batches')(id);
  const artifact = by('GET', '/api/sessions/{id}/artifacts/{path...}');
  await artifact('aaaaaaaaaaaa');
  for (const range of ['', 'bytes=0-1', 'bytes=99-']) await artifact(id, undefined, range === '' ? {} : { range });
  for (const path of [
    '/',
    '/api/flows',
    '/api/stats',
    '/api/tokens',
    '/metrics',
    '/api/health',
    '/api/models',
    '/api/nodes',
    '/api/sessions',
    '/api/jobs',
    '/api/events',
    '/api/openapi.json',
    '/prompt',
  ]) {
    await by('GET', path)(id);
  }
  const proof = { path: `/api/proof?challenge=${'A'.repeat(43)}` };
  await answers.see(t, gateway.url, routeOf('GET', '/api/proof'), proof);
  const known = await house.listen({ secret: 'the secret of its file' });
  await answers.see(t, known.url, routeOf('GET', '/api/proof'), proof);
  await by('POST', '/api/login')(id, '{"token": "correct-horse"}');
  await by('POST', '/api/login')(id, '{"token": "x"}');
  await by('DELETE', '/api/login')(id);
  await by('POST', '/api/tokens')(id, '{"name": "ci", "role": "admin"}');
  const [token] = sessions.tokens.list();
  await by('DELETE', '/api/tokens/{id}')(token?.id ?? '');
  await sessions.states.save('127.0.0.1', 'a.txt', { cookies: [], origins: [] }, 60);
  await by('GET', '/api/states')(id);
  for (const _ of ['saved', 'removed']) await by('DELETE', '/api/states/{name}')(id);
  await by('GET', '/api/sessions/{id}/value')(id);
  await sessions.setupValues.save('127.0.0.1', id, '{"user":7}');
  await by('GET', '/api/sessions/{id}/value')(id);
  await by('PUT', '/api/sessions/{id}/files/{name}')(id, 'content');
  await by('GET', '/api/sessions/{id}/screenshots/{name}')(id);
  await by('GET', '/api/sessions/{id}/files/{name}')(id);
  const page = (await httpCall(gateway.url, { method: 'GET', path: '/' })).text;
  const asset = /assets\/([\w.-]+)/.exec(page)?.[1] ?? '';
  const assets = routeOf('GET', '/assets/{name}');
  await answers.see(t, gateway.url, assets, { path: `/assets/${asset}` });
  await answers.see(t, gateway.url, assets);
  for (const path of ['', '/files', '/artifacts', '/report', '/report.json', '/download', '/events'])
    await by('GET', `/api/sessions/{id}${path}`)(id);
  const traced = await house.live({ trace: 'on' });
  await by('GET', '/api/sessions/{id}/trace')(traced.id);
  await by('POST', '/api/sessions/{id}/trace')(traced.id);
  await sessions.remove(traced.id, false);
  await by('GET', '/api/sessions/{id}/webhooks')(id);
  await by('POST', '/api/sessions/{id}/webhooks')(id, '{}');
  await by('GET', '/sessions/{id}/prompt')(id);
  await by('POST', '/sessions/{id}/proxy')(id, '{"js": "1 + 1"}');
  await by('POST', '/sessions/{id}/proxy')(id, '{"js": "null.x"}');
  for (const slash of ['', '/']) await by('GET', `/sessions/{id}/cdp/json/version${slash}`)(id);
  const shared = by('POST', '/api/sessions/{id}/links');
  await shared(id, '{}');
  const opening = routeOf('GET', '/shared/{link}');
  await answers.see(t, gateway.url, opening, { path: `/shared/${sessions.links.make(id, 60).link}` });
  await answers.see(t, gateway.url, opening, {
    path: `/shared/${sessions.links.make(SessionId.parse('zzzzzzzzzzzz'), 60).link}`,
  });
  await answers.see(t, gateway.url, opening, { path: '/shared/none' });
  const control = by('POST', '/api/sessions/{id}/control');
  for (const take of [true, true, false]) await control(id, JSON.stringify({ take }));
  const asked = sessions.runScript(id, `agent.handoff('Sign in')`, never);
  await sessions.connections.nextHandoff(id, never);
  for (const answer of ['done', 'done']) await by('POST', '/api/sessions/{id}/handoff')(id, JSON.stringify({ answer }));
  await asked;
  for (const path of ['/api/sessions', '/api/jobs', '/api/sessions/run']) {
    const mode = path === '/api/sessions' ? { mode: 'auto' } : {};
    for (const task of [JOB, missing]) await by('POST', path)(id, JSON.stringify({ ...task, ...mode }));
    await by('POST', path)(id, '{', {});
  }
  for (const task of [JOB, missing]) await by('POST', '/api/batches')(id, JSON.stringify({ jobs: [task] }));
  const batch = await sessions.batches.create({ jobs: [JOB] }, { caller: 'a test', signal: never });
  await eventually('the batch ends', async () => (await sessions.batches.get(batch.id)).endedAt !== null);
  for (const path of ['', '/download', '/junit', '/events', '/webhooks'])
    await by('GET', `/api/batches/{id}${path}`)(batch.id);
  await by('POST', '/api/batches/{id}/webhooks')(batch.id, '{}');
  await by('GET', '/api/batches/{id}/events')(batch.id, undefined, {
    'last-event-id': String(sessions.streams.lastSeq()),
  });
  for (const of of [batch.id, 'aaaaaaaaaaaa']) await by('GET', '/api/batches/{id}/flows/{path...}')(of);
  await by('POST', '/api/batches/{id}/rerun')(batch.id, '{"jobs": "all"}');
  await by('DELETE', '/api/batches/{id}')(batch.id);
  const joining = { build: 'b', hash: 'h', jobs: [{ name: 'a' }] };
  await by('POST', '/api/batches/join')(id, JSON.stringify(joining));
  const joined = await sessions.batches.joined.join(joining, 'a test');
  const result = JSON.stringify(EXAMPLES['POST /api/batches/{id}/claims/{token}/result']?.request);
  for (const token of ['t'.repeat(24), 't'.repeat(24)]) {
    await by('POST', '/api/batches/{id}/claim')(joined.id, JSON.stringify({ token }));
    for (const [method, step, body] of [
      ['POST', 'renew', '{}'],
      ['PUT', 'artifacts', 'a zip'],
      ['POST', 'result', result],
    ] as const) {
      const route = routeOf(method, `/api/batches/{id}/claims/{token}/${step}`);
      const path = `/api/batches/${joined.id}/claims/${token}/${step}`;
      await answers.see(t, gateway.url, route, { path, headers: BEARER, body });
    }
  }
  await answers.see(t, gateway.url, routeOf('POST', '/api/batches/{id}/claims/{token}/result'), {
    path: `/api/batches/${joined.id}/claims/${'u'.repeat(24)}/result`,
    headers: BEARER,
    body: result,
  });
  await by('GET', '/api/batches/{id}/results')(joined.id);
  const [flow] = (await sessions.batches.joined.results(joined.id)).flows;
  const path = flow?.attempts[0]?.artifacts ?? '';
  await answers.see(t, gateway.url, routeOf('GET', '/api/batches/{id}/results/{name}'), { path, headers: BEARER });
  const suite = await sessions.batches.suites.begin({ run: 'a-run-of-a-suite' }, 'token:a test');
  await by('POST', '/api/batches/suite')(id, JSON.stringify(EXAMPLES['POST /api/batches/suite']?.request));
  const reported = JSON.stringify(EXAMPLES['POST /api/batches/{id}/tests']?.request);
  const begun = await sessions.batches.suites.begin({ run: 'a-run-of-another' }, 'a test');
  for (const of of [begun.id, suite.id]) await by('POST', '/api/batches/{id}/tests')(of, reported);
  for (const path of ['/tests', '/ctrf']) await by('GET', `/api/batches/{id}${path}`)(begun.id);
  const stopped = await sessions.batches.suites.begin({ run: 'a-run-that-stops' }, 'a test');
  await sessions.batches.remove(stopped.id, false);
  await by('POST', '/api/batches/{id}/tests')(stopped.id, reported);
  await by('POST', '/api/batches/{id}/tests')('aaaaaaaaaaaa', reported);
  await by('POST', '/api/sessions')(id);
  const ended = await sessions.waitForEnd((await sessions.list({ mode: 'auto' }))[0]?.id ?? '', bounds);
  for (const path of ['', '/download']) await by('GET', `/api/jobs/{id}${path}`)(ended.id);
  await by('POST', '/api/sessions/{id}/handoff')(ended.id, '{"answer": "done"}');
  for (const slash of ['', '/']) await by('GET', `/sessions/{id}/cdp/json/version${slash}`)(ended.id);
  await by('DELETE', '/api/sessions/{id}')(id);
  await by('GET', '/sessions/{id}/prompt')(id);
  await by('PUT', '/api/sessions/{id}/files/{name}')(id, 'content');
  await by('POST', '/sessions/{id}/proxy')(id, '{"js": "1"}');
  await by('GET', '/api/sessions/{id}/events')(id, undefined, { 'last-event-id': String(sessions.streams.lastSeq()) });
  const call = { method: 'POST', path: '/mcp', headers: BEARER, body: INITIALIZE };
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
  await by('POST', '/mcp')(id, ' '.repeat(2 * MIB), mcp);
  const stream = await ask(gateway.url, { method: 'GET', path: '/mcp', headers: { ...BEARER, ...mcp } });
  answers.note(t, routeOf('GET', '/mcp'), stream);
  await by('GET', '/mcp')(id, undefined, mcp);
  stream.close();
  await by('GET', '/mcp')(id, undefined, { ...mcp, accept: 'text/html' });
  await by('DELETE', '/mcp')(id, undefined, mcp);
  for (const method of ['GET', 'DELETE'])
    await by(method, '/mcp')(id, undefined, { 'mcp-protocol-version': '2026-07-28' });
});

t.test('Every route answers as documented when there is no capacity', async (t) => {
  const gateway = await house.listen({ token: 'correct-horse' });
  const see = (method: string, path: string, id: string, call: Partial<HttpCall> = {}) =>
    answers.see(t, gateway.url, routeOf(method, path), { headers: BEARER, path: path.replace('{id}', id), ...call });

  const { id } = await house.live();
  const proxy = (js: string) => see('POST', '/sessions/{id}/proxy', id, { body: JSON.stringify({ js }) });
  const first = proxy(held.js);
  await eventually('the script runs', () => held.running() === 1);
  const waiting = Array.from({ length: 65 }, () => proxy('1'));
  await eventually('one too many is refused', () => answers.has(routeOf('POST', '/sessions/{id}/proxy'), 429));
  held.finish();
  await Promise.all([first, ...waiting]);

  const headers = { ...BEARER, 'content-length': String(100 * MIB + 1) };
  const upload = routeOf('PUT', '/api/sessions/{id}/files/{name}');
  await answers.see(t, gateway.url, upload, { path: `/api/sessions/${id}/files/a.txt`, headers });
  const zip = routeOf('PUT', '/api/batches/{id}/claims/{token}/artifacts');
  await answers.see(t, gateway.url, zip, { path: '/api/batches/aaaaaaaaaaaa/claims/t/artifacts', headers });

  const batch = await sessions.batches.create({ jobs: [JOB] }, { caller: 'a test', signal: never });
  const open = () => ask(gateway.url, { method: 'GET', path: '/api/events', headers: BEARER });
  const readers = await Promise.all(Array.from({ length: 250 }, open));
  for (const [path, of] of [
    ['/api/events', ''],
    ['/api/sessions/{id}/events', id],
    ['/api/batches/{id}/events', batch.id],
  ] as const) {
    await see('GET', path, of);
  }
  for (const reader of readers) reader.close();

  const release = house.browsers.holdStarts();
  t.teardown(release);
  const begin = { method: 'POST', path: '/mcp', headers: BEARER, body: INITIALIZE };
  const mcp = { 'mcp-session-id': String((await httpCall(gateway.url, begin)).headers['mcp-session-id']) };
  const evaluate = (n: number) => {
    const params = { name: 'agent_eval', arguments: { js: '1' } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: n, method: 'tools/call', params });
    return ask(gateway.url, { method: 'POST', path: '/mcp', headers: { ...BEARER, ...mcp }, body });
  };
  const calls = await Promise.all(Array.from({ length: 101 }, (_, n) => evaluate(n)));
  for (const answer of calls) {
    answers.note(t, routeOf('POST', '/mcp'), answer);
    answer.close();
  }
  release();

  const makeToken = (n: number) => sessions.tokens.create({ name: `token ${n}`, role: 'run' }, true);
  await Promise.all(Array.from({ length: 10_000 - sessions.tokens.size }, (_, n) => makeToken(n)));
  await see('POST', '/api/tokens', '', { body: '{"name": "one too many", "role": "run"}' });
});

t.test(
  'Every route answers as documented when browsers are lost, scripts do not end, and queues are full',
  async (t) => {
    const full = await openHouse(t, { maxSessions: 1, createTimeout: 1, evalTimeout: 1, maxQueue: 0 });
    const gateway = await full.listen();
    const see = (path: string, body: object) =>
      answers.see(t, gateway.url, routeOf('POST', path), {
        path: path.replace('{id}', id),
        body: JSON.stringify(body),
      });
    const { id } = await full.live();
    for (const path of ['/api/sessions/run', '/api/jobs']) await see(path, JOB);
    await see('/api/batches', { jobs: [JOB] });
    await Promise.all([see('/api/sessions', {}), see('/sessions/{id}/proxy', { js: 'for (;;);' })]);
    const lost = see('/sessions/{id}/proxy', { js: 'agent.wait(900)' });
    full.browsers.lose(id);
    await lost;
    full.browsers.stillborn = true;
    await see('/api/sessions', {});

    const token = await full.sessions.tokens.create({ name: 'the only one', role: 'admin' }, false);
    await answers.see(t, gateway.url, routeOf('DELETE', '/api/tokens/{id}'), {
      path: `/api/tokens/${token.id}`,
      headers: { authorization: `Bearer ${token.token}` },
    });
  },
);

t.test('A batch that the queue has no room for does not run again', async (t) => {
  const { sessions: full, ...busy } = await openHouse(t, { maxSessions: 1, maxQueue: 2 });
  const gateway = await busy.listen();
  const submitter = { caller: 'a test', signal: never };
  const batch = await full.batches.create({ jobs: [JOB, JOB] }, submitter);
  await eventually('the batch ends', async () => (await full.batches.get(batch.id)).endedAt !== null);
  await busy.live();
  await full.batches.create({ jobs: [JOB] }, submitter);
  await answers.see(t, gateway.url, routeOf('POST', '/api/batches/{id}/rerun'), {
    path: `/api/batches/${batch.id}/rerun`,
    body: '{"jobs": "all"}',
  });
});

t.test('Every documented answer occurs', async (t) => {
  // Those about one node need PostgreSQL: test/cluster/nodes.test.ts checks them.
  for (const route of ROUTES.filter(({ path }) => !path.startsWith('/api/nodes/'))) {
    const documented = [route.status, ...Object.keys(route.also).map(Number), ...routeErrors(route).keys()];
    for (const status of new Set(documented)) {
      t.ok(answers.has(route, status), `${route.method} ${route.path} ${status}`);
    }
  }
});

function fits(pattern: string, path: string): boolean {
  const [bare = ''] = path.split('?');
  const [left, right] = [pattern.split('/'), bare.split('/')];
  return left.length === right.length && left.every((part, index) => part.startsWith('{') || part === right[index]);
}
