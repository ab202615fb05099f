import { createServer, type ServerResponse } from 'node:http';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const service = await startTestService(t, { maxSessions: 3 });
const { page, shows, holds, problems, hosts } = await openReader(t);
const live = await service.live({ name: 'Known' });

const send = () => page.getByRole('button', { name: 'Send', exact: true }).click();
const open = (operation: string) => page.goto(`${service.url}/#/api/${operation}`);
const outcome = page.locator('.outcome');

/** Settles when the outcome of the call has the text. */
async function tells(text: string): Promise<void> {
  await holds(`document.querySelector('.outcome')?.innerText.includes(${JSON.stringify(text)})`);
}

/** Settles when a field has the value. */
async function has(label: string, value: string): Promise<void> {
  await eventually(`${label} is ${value}`, async () => (await page.getByLabel(label).inputValue()) === value);
}

t.test('The page has a group for each topic, and an address for each operation that a reload keeps', async (t) => {
  await page.goto(`${service.url}/#/api`);
  await shows('/api/sessions/{id}');
  const groups = page.getByRole('navigation', { name: 'Operations' }).locator('summary');
  t.match(
    (await groups.allInnerTexts()).join(', '),
    /^Sessions.*Scripts.*Runs.*Events.*Webhooks.*Nodes.*MCP.*Service/s,
  );
  await page.getByRole('link', { name: 'Runs', exact: true }).last().click();
  await shows('Submits a job and responds when it has ended');
  t.match(page.url(), /#\/api\/postApiSessionsRun$/);
  await page.getByRole('link', { name: 'POST /api/batches', exact: true }).click();
  await shows('Submits up to 10,000 jobs together');
  await page.reload();
  await shows('Submits up to 10,000 jobs together');
  t.equal(await page.locator('nav a[aria-current=page] code').textContent(), '/api/batches');
  await page.goBack();
  await shows('Submits a job and responds when it has ended');
  await open('getApiNothing');
  await shows('The API has no operation "getApiNothing"');
});

t.test('The filter finds operations by method, path, and words, and says when nothing matches', async (t) => {
  await page.goto(`${service.url}/#/api`);
  const links = page.getByRole('navigation', { name: 'Operations' }).getByRole('link');
  await page.getByLabel('Filter').fill('put flows');
  await shows('1 operation matches.');
  t.same(await links.allInnerTexts().then((all) => all.map((text) => text.replace(/\s+/g, ' '))), [
    'PUT /api/flows/{path}',
  ]);
  await page.getByLabel('Filter').fill('share link');
  await shows('/api/sessions/{id}/links');
  await page.getByLabel('Filter').fill('no such thing');
  await shows('Nothing matches.');
  t.equal(await links.count(), 0);
});

t.test('An operation has its members with types and limits, its errors, and examples, also as curl', async (t) => {
  await open('postApiSessions');
  await shows('1 to 200 characters');
  await shows('Errors and other responses');
  t.match(await page.getByRole('row', { name: /INVALID_JSON/ }).textContent(), /^400\s*INVALID_JSON/);
  t.match(await page.getByRole('region', { name: 'Example of the response' }).textContent(), '"status": "running"');
  t.match(
    await page.getByRole('region', { name: 'As curl' }).textContent(),
    `curl -s -d '{"name":"checkout","labels":{"team":"shop"}}' ${service.url}/api/sessions`,
  );
  await open('getApiStats');
  await page.getByLabel('flow').first().fill("a & b's");
  await holds(`document.body.innerText.includes('/api/stats?flow=a+%26+b%27s')`);
});

t.test('A GET is sent with the newest session, and its response is shown', async (t) => {
  await open('getApiSessionsId');
  await has('id path', live.id);
  await page.getByLabel('id path').press('Enter');
  await tells('200 OK');
  await tells('"name": "Known"');
  t.match(await outcome.textContent(), /GET \/api\/sessions\/\w{12}.*content-type\s*application\/json/s);
  await page.getByLabel('id path').fill('zzzzzzzzzzzz');
  await send();
  await tells('404 Not Found');
  await tells('"code": "NOT_FOUND"');
});

t.test(
  'Files are offered to save, pictures are shown, text is as it came, and of a long text the first 1 MB',
  async (t) => {
    await open('getApiSessionsIdDownload');
    await has('id path', live.id);
    await send();
    await tells('A file');
    t.equal(await page.getByRole('link', { name: 'Save' }).getAttribute('href'), `api/sessions/${live.id}/download`);
    await open('getMetrics');
    await send();
    await tells('troupe_sessions');
    await page.route('**/metrics', (route) =>
      route.fulfill({ contentType: 'text/plain', body: 'x'.repeat(1024 * 1024 + 1) }),
    );
    await send();
    await tells('Only the first 1 MB is shown');
    await page.unroute('**/metrics');
    await open('getApiSessionsIdScreenshotsName');
    await has('id path', live.id);
    await page.getByLabel('name path').fill('001.png');
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await page.route('**/screenshots/*', (route) =>
      route.fulfill({ contentType: 'image/png', body: Buffer.from(pixel, 'base64') }),
    );
    await send();
    await holds('document.querySelector(".outcome img")?.naturalWidth === 1');
    await page.unroute('**/screenshots/*');
  },
);

t.test('A POST creates a session with the body in the field, when Send is clicked and not before', async (t) => {
  const names = async () => (await service.call('GET', '/api/sessions')).body.map(({ name }: { name: string }) => name);
  await open('postApiSessions');
  await page.getByLabel('Body (JSON)').fill('{"name": "From the page"');
  await send();
  await shows('Not valid JSON');
  t.equal(await outcome.count(), 0);
  t.equal(await page.evaluate('document.activeElement.ariaInvalid'), 'true');
  await page.getByLabel('Body (JSON)').fill('{"name": "From the page"}');
  await page.getByLabel('idempotency-key').fill('once');
  await page.getByLabel('idempotency-key').press('Enter');
  t.same(await names(), ['Known']);
  await send();
  await tells('201 Created');
  await tells('"name": "From the page"');
  await send();
  await tells('201 Created');
  t.same(await names(), ['From the page', 'Known'], 'the key was sent');
  await page.getByLabel('Body (JSON)').fill('{"nam": 1}');
  await page.getByLabel('idempotency-key').fill('');
  await send();
  await tells('400 Bad Request');
  await tells('"INVALID_REQUEST"');
});

t.test('A body that is not JSON is sent as it was typed, or from a file', async (t) => {
  const stored = async (name: string) => (await service.call('GET', `/api/sessions/${live.id}/files/${name}`)).body;
  await open('putApiSessionsIdFilesName');
  await page.getByLabel('id path').fill(live.id);
  await page.getByLabel('name path').fill('typed.txt');
  await page.getByLabel('Body, as text').fill('{not JSON');
  await send();
  await tells('201 Created');
  t.equal(await stored('typed.txt'), '{not JSON');
  await page.getByLabel('name path').fill('chosen.txt');
  await page
    .getByLabel('Or a file')
    .setInputFiles({ name: 'local.txt', mimeType: 'text/plain', buffer: Buffer.from('of a file') });
  await send();
  await tells('/files/chosen.txt');
  await tells('201 Created');
  t.equal(await stored('chosen.txt'), 'of a file');
});

t.test('A missing parameter, and one that would lead to another path, are told beside their fields', async (t) => {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await open('deleteApiStatesName');
  await send();
  await shows('name is missing.');
  await page.getByLabel('name path').fill('..');
  await send();
  await shows('No segment of a path can be . or ..');
  t.equal(await page.getByRole('dialog').count(), 0);
  t.same(
    asked.filter((url) => url.includes('/api/states')),
    [],
  );
  page.removeAllListeners('request');
});

t.test('A DELETE is asked about before it is sent', async (t) => {
  const ended = await service.live({ name: 'To be stopped' });
  await open('deleteApiSessionsId');
  await page.getByLabel('id path').fill(ended.id);
  await send();
  await page.getByRole('dialog').getByText(`DELETE /api/sessions/${ended.id}`).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  t.equal(await page.getByRole('dialog').count(), 0);
  t.match((await service.call('GET', `/api/sessions/${ended.id}`)).body, { status: 'running' });
  await send();
  await page.getByRole('button', { name: 'Send DELETE' }).click();
  await tells('"deleted": true');
  t.match((await service.call('GET', `/api/sessions/${ended.id}`)).body, { status: 'stopped' });
});

t.test('Events are shown as they come in, until Stop, the end of the stream, or another page', async (t) => {
  await open('getApiSessionsIdEvents');
  await page.getByLabel('id path').fill(live.id);
  await send();
  await tells('The stream is open.');
  await tells('SessionStarted');
  await service.run(live.id, '"a script of the test"');
  await tells('a script of the test');
  await page.getByRole('button', { name: 'Stop' }).click();
  await tells('Stopped.');
  t.notMatch(await outcome.textContent(), 'The stream is open');
  t.equal(await page.getByRole('button', { name: 'Stop' }).count(), 0);

  const ending = await service.live();
  await page.getByLabel('id path').fill(ending.id);
  await send();
  await tells('The stream is open.');
  await service.call('DELETE', `/api/sessions/${ending.id}`);
  await tells('Ended by the service.');

  const closed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/events'));
  await open('getApiEvents');
  await send();
  await tells('The stream is open.');
  await open('getApiHealth');
  await shows('The health of the service');
  t.ok(await closed, 'leaving the operation ends its stream');
});

t.test('A lost connection is told, before a response and within a stream', async (t) => {
  await open('getApiHealth');
  await page.route('**/api/health', (route) => route.abort('connectionreset'));
  await send();
  await tells('Failed: the service is not reachable');
  await page.unroute('**/api/health');

  const streams = new Set<ServerResponse>();
  const server = createServer((_request, response) => {
    streams.add(response);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'access-control-allow-origin': '*' });
    response.write(`event: Late\ndata: ${'x'.repeat(9000)}\n\nevent: Next\r\ndata: one\r\ndata: two\r\n\r\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const stream of streams) stream.destroy();
    server.close();
  });
  await open('getApiEvents');
  await page.route('**/api/events', (route) => route.continue({ url: addressOf(server) }));
  await send();
  await tells('2 events, newest first');
  await tells('one\ntwo');
  for (const stream of streams) stream.destroy();
  await tells('Failed: the connection was lost before the response was complete.');
  await tells('one\ntwo');
  await page.unroute('**/api/events');
});

function addressOf(server: ReturnType<typeof createServer>): string {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
}

t.test('A token that may not send a call is told why, and so is a call that redirects a browser', async (t) => {
  await open('getSharedLink');
  await shows('This call redirects a browser');
  t.equal(await page.getByRole('button', { name: 'Send' }).count(), 0);
  await page.goto('about:blank');
  process.env.API_PAGE_TEST_TOKEN = 'correct-horse';
  t.teardown(() => {
    delete process.env.API_PAGE_TEST_TOKEN;
  });
  const guarded = await startTestService(t, { token: 'API_PAGE_TEST_TOKEN' });
  const made = await guarded.call('POST', '/api/tokens', undefined, {
    headers: { authorization: 'Bearer correct-horse' },
    body: '{"name": "reader", "role": "view"}',
  });
  await page.goto(guarded.url);
  await page.getByLabel('Access token').fill(made.body.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.goto(`${guarded.url}/#/api/postApiSessions`);
  await shows('This call needs the role run. Your token "reader" has the role view.');
  t.equal(await page.getByRole('button', { name: 'Send' }).count(), 0);
  await page.goto(`${guarded.url}/#/api/getApiSessions`);
  await send();
  await tells('200 OK');
  t.match(await page.getByRole('region', { name: 'As curl' }).textContent(), 'Bearer $TROUPE_TOKEN');
  await page.goto('about:blank');
});

t.test('The page breaks its content security policy nowhere, and asks no other host', (t) => {
  t.same(
    problems.filter((text) => !/Failed to load resource|net::ERR_/.test(text)),
    [],
  );
  t.ok([...hosts].every((host) => host.startsWith('127.0.0.1:')));
  t.end();
});
