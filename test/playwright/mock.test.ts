import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { client, makeHome, startTestService, type TestService } from '../support/service.js';
import { spawnService } from '../support/service-process.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

/** A page that asks for something of its own accord, all the time. */
const ASKING = `<title>asks</title><script>setInterval(() => fetch('/api/asked').catch(() => undefined), 4)</script>`;

let reached = 0;
const server = createServer((request, response) => {
  if (request.url?.startsWith('/api/') === true) reached += 1;
  if (request.url === '/moved') {
    response.writeHead(302, { location: '/real' }).end();
    return;
  }
  const page = request.url === '/asking' ? ASKING : '<title>Shop</title>';
  const isPage = request.url === '/' || request.url === '/asking';
  response
    .writeHead(200, { 'content-type': isPage ? 'text/html' : 'application/json' })
    .end(isPage ? page : '{"real":true}');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});
const { port } = server.address() as AddressInfo;
const origin = `http://127.0.0.1:${port}`;

interface Rule {
  readonly status?: number;
  readonly json?: unknown;
  readonly body?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly contentType?: string;
  readonly abort?: boolean | string;
}

/** What a page is answered, by the pattern of the rule and the address that it asks for. */
const CASES: readonly (readonly [glob: string, rule: Rule, path: string])[] = [
  ['**/api/orders', { json: [{ id: 1 }] }, '/api/orders'],
  ['**/api/orders', { status: 201, json: { id: 2 } }, '/api/orders'],
  ['**/api/orders', { status: 404 }, '/api/orders'],
  ['**/api/orders', { status: 500, body: 'broken' }, '/api/orders'],
  ['**/api/orders', { status: 204 }, '/api/orders'],
  ['**/api/orders', { body: 'plain' }, '/api/orders'],
  ['**/api/orders', { body: '<b>x</b>', contentType: 'text/html' }, '/api/orders'],
  ['**/api/orders', { body: '{}', contentType: 'application/json' }, '/api/orders'],
  ['**/api/orders', { json: null }, '/api/orders'],
  ['**/api/orders', { json: 'text' }, '/api/orders'],
  ['**/api/orders', { json: { name: 'Zoë ☕' } }, '/api/orders'],
  ['**/api/orders', { headers: { 'x-page': '2' }, json: [] }, '/api/orders'],
  ['**/api/orders', { headers: { 'content-type': 'text/csv' }, body: 'a,b' }, '/api/orders'],
  ['**/api/orders', { status: 401, headers: { 'www-authenticate': 'Bearer' } }, '/api/orders'],
  ['**/api/orders', { abort: true }, '/api/orders'],
  ['**/api/orders', { abort: 'connectionrefused' }, '/api/orders'],
  ['**/api/*', { json: 1 }, '/api/orders'],
  ['**/api/*', { json: 1 }, '/real/orders/7'],
  ['**/api/**', { json: 1 }, '/api/orders/7/lines'],
  ['**/api/{orders,carts}', { json: 1 }, '/api/carts'],
  ['**/api/{orders,carts}', { json: 1 }, '/real/users'],
  [`${origin}/api/orders`, { json: 1 }, '/api/orders'],
  ['**/api/orders?page=2', { json: 1 }, '/api/orders?page=2'],
];

const asked = (path: string) => `(async () => {
  try {
    const answer = await fetch(${JSON.stringify(path)});
    return { status: answer.status, type: answer.headers.get('content-type'), page: answer.headers.get('x-page'), text: await answer.text() };
  } catch (error) { return { failed: true }; }
})()`;

/** The first session that uses Playwright starts its thread, which a busy machine may not do in the time of one call. */
async function connected(service: Pick<TestService, 'run'>, id: string): Promise<void> {
  const answers = async () => (await service.run(id, 'context.pages().length')).status === 200;
  await eventually('Playwright is connected', answers, 120_000);
}

t.test('A mock answers a page as the same rule of Playwright does', async (t) => {
  const service = await startTestService(t, { forward: [port], maxSessions: 2 });
  const [ours, theirs] = [await service.live(), await service.live()];
  const browser = await chromium.connectOverCDP(`${service.url.replace('http', 'ws')}/sessions/${theirs.id}/cdp`);
  t.teardown(() => browser.close());
  const page = browser.contexts()[0]?.pages()[0];
  if (page === undefined) throw new Error('There is no page');
  await page.goto(origin);
  await service.run(ours.id, `agent.go('${origin}')`);
  await connected(service, ours.id);
  for (const [glob, rule, path] of CASES) {
    const name = `${glob} ${JSON.stringify(rule)} ${path}`;
    await page.route(glob, async (route) => {
      const { abort, ...answer } = rule;
      if (abort === undefined) return route.fulfill(answer);
      return route.abort(typeof abort === 'string' ? abort : 'failed');
    });
    const expected = await page.evaluate(asked(path));
    await page.unroute(glob);
    const js = `agent.mock(${JSON.stringify(glob)}, ${JSON.stringify(rule)}); const got = agent.page(${JSON.stringify(asked(path))});
      agent.mock(${JSON.stringify(glob)}, null); got`;
    t.match(await service.run(ours.id, js), { status: 200, body: expected as object }, name);
  }
  t.equal(reached, 0, 'no mocked request has come through');
  t.match(await service.run(ours.id, `agent.page(${JSON.stringify(asked('/api/ended'))})`), { body: { status: 200 } });
  t.equal(reached, 1, 'a mock that was ended answers nothing');
  reached = 0;
});

t.test('A mock is a step of the report, and holds in new tabs; one that is written wrongly says so', async (t) => {
  const service = await startTestService(t, { forward: [port], maxSessions: 1 });
  const { id } = await service.live();
  await connected(service, id);
  const source = `agent.go('${origin}'); agent.mock('**/api/late', {json: {n: 1}, delay: 30});
    agent.page("void window.open('/')"); agent.wait('navigation'); agent.page(${JSON.stringify(asked('/api/late'))})`;
  t.match(await service.run(id, source), { status: 200, body: { status: 200, text: '{"n":1}' } });
  for (const wrong of [
    `''`,
    `'**/x'`,
    `'**/x', {}`,
    `'**/x', 'text'`,
    `'**/x', {code: 1}`,
    `'**/x', {delay: -1}`,
    `/x/, {status: 1}`,
  ]) {
    t.match(await service.run(id, `agent.mock(${wrong})`), { status: 422, body: { code: 'SCRIPT_ERROR' } }, wrong);
  }
  const report = (await service.call('GET', `/api/sessions/${id}/report.json`)).body;
  t.match(
    report.steps.map(({ js }: { js: string }) => js),
    [/^agent\.go/, 'agent.mock("**/api/late", {json: {n: 1}, delay: 30})'],
  );
  t.ok([...(await readZip(`${service.url}/api/sessions/${id}/download`)).keys()].includes('report.json'));
});

t.test('A script reads what the page asked for and was answered', async (t) => {
  const service = await startTestService(t, { forward: [port], maxSessions: 1 });
  const { id } = await service.live({ har: 'bodies' });
  const source = `agent.go('${origin}');
    agent.page("fetch('/api/orders', {method: 'POST', headers: {'content-type': 'application/json'}, body: JSON.stringify({tea: 2})}).then(r => r.json())");
    agent.page("fetch('/moved').then(r => r.text())");
    agent.until(() => agent.requests('**/{real,api/orders}').filter(({durationMs}) => durationMs !== null).length === 2);
    const [order] = agent.requests('**/api/orders');
    match(order, {method: 'POST', url: '${origin}/api/orders', status: 200, type: 'fetch', durationMs: '#number', requestBody: {tea: 2}, body: {real: true}});
    match(agent.requests({status: 302}), [{url: '${origin}/moved', body: '#notpresent'}]);
    match(agent.requests({type: 'document'}), '#[1]');
    match(agent.requests({method: 'post', url: '**/api/*'}), '#[1]');
    // A browser with a window asks for an icon, too.
    agent.requests().filter(({url}) => !url.endsWith('/favicon.ico')).length`;
  t.match(await service.run(id, source), { status: 200, body: 4 });
  for (const wrong of ['7', '{path: 1}', '{url: 1}', "{status: '200'}"]) {
    t.match(await service.run(id, `agent.requests(${wrong})`), { status: 422, body: { code: 'SCRIPT_ERROR' } }, wrong);
  }
  reached = 0;
});

t.test('After a service was killed, no request of a page with mocks reaches the server', async (t) => {
  const home = makeHome(t, { forward: [port], maxSessions: 1 });
  const first = spawnService(home);
  t.teardown(() => first.end('SIGKILL'));
  const before = client(await first.listening);
  const { id } = await before.live();
  await connected(before, id);
  const source = `agent.mock('**/api/asked', {status: 204}); agent.go('${origin}/asking');
    agent.until(() => agent.requests({url: '**/api/asked', status: 204}).length > 3); 1`;
  t.match(await before.run(id, source), { status: 200, body: 1 });
  t.equal(reached, 0);
  await first.end('SIGKILL');
  const second = spawnService(home);
  t.teardown(() => second.end('SIGTERM'));
  const after = client(await second.listening);
  await eventually('the session is there again', async () => {
    const { body } = await after.call('GET', `/api/sessions/${id}`);
    return body.status === 'running';
  });
  t.match(await after.run(id, 'agent.tabs()'), { status: 502, body: { code: 'SESSION_RESTARTED' } });
  t.match(await after.run(id, 'agent.tabs()[0].url'), { body: 'about:blank' });
  t.equal(reached, 0, 'no request has come through');
  await after.call('DELETE', `/api/sessions/${id}`);
});
