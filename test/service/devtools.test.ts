import { on, once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { connect } from 'puppeteer-core';
import t from 'tap';
import { WebSocket } from 'ws';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const service = await startTestService(t);
const site = createServer((request, response) => {
  if (request.url === '/file') {
    response.writeHead(200, { 'content-disposition': 'attachment; filename=note.txt' }).end('carried');
    return;
  }
  response.setHeader('content-type', 'text/html');
  response.end(`<title>site</title><button onclick="said.textContent = 'pressed'">Press</button>
    <p id=said>new</p><a href=/file>Save</a>`);
});
await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
t.teardown(() => {
  site.closeAllConnections();
  site.close();
});
const siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
const socketUrl = (id: string, query = '') => `${service.url.replace('http', 'ws')}/sessions/${id}/cdp${query}`;

/** A client of the protocol that knows nothing but its messages. */
async function devTools(id: string) {
  const socket = new WebSocket(socketUrl(id));
  await once(socket, 'open', { signal: AbortSignal.timeout(60_000) });
  const answered = async (text: string, id = 1) => {
    const signal = AbortSignal.timeout(60_000);
    socket.send(text);
    for await (const [data] of on(socket, 'message', { signal })) {
      const message = JSON.parse(data.toString());
      if (message.id === id) return message;
    }
  };
  const ask = (method: string, params?: object, sessionId?: string) =>
    answered(JSON.stringify({ id: 1, method, params, sessionId }));
  return { socket, ask, answered };
}

t.test('A Playwright test attaches to a live session, beside the session itself', async (t) => {
  const { id } = await service.live();
  await service.run(id, `let kept = 7; agent.go(${JSON.stringify(siteUrl)})`);
  const browser = await chromium.connectOverCDP(socketUrl(id));
  const [context] = browser.contexts();
  const [page] = context?.pages() ?? [];
  if (context === undefined || page === undefined) throw new Error('The page of the session is not there');
  t.equal(await page.title(), 'site');
  t.match(await service.run(id, `agent.act('{button}Press', 'click'); agent.text('#said')`), { body: 'pressed' });
  await page.reload();
  await page.getByRole('button', { name: 'Press' }).click();
  t.equal(await page.locator('#said').textContent(), 'pressed');
  t.equal((await page.screenshot()).subarray(1, 4).toString(), 'PNG');
  const second = await context.newPage();
  await second.goto(siteUrl);
  t.match(await service.run(id, 'agent.tabs().length'), { body: 2 });
  const download = second.waitForEvent('download');
  await second.getByRole('link', { name: 'Save' }).click();
  t.equal((await download).suggestedFilename(), 'note.txt');
  const own = await browser.newContext();
  t.equal(await (await own.newPage()).evaluate('1 + 1'), 2);
  await own.close();
  await browser.close();
  t.match(await service.run(id, 'kept'), { status: 200, body: 7 }, 'the session goes on without it');
  await eventually(
    'the session has the download',
    async () => (await service.run(id, 'agent.downloads().length')).body === 1,
  );
  const files = await service.call('GET', `/api/sessions/${id}/files/note.txt`);
  t.match(files, { status: 200, body: 'carried' }, "a download is the session's");
  await service.run(id, `agent.act('{a}Save', 'click')`);
  await eventually(
    'downloads go to the session as before, when a client that redirected them has left',
    async () => (await service.run(id, 'agent.downloads().length')).body === 2,
  );
  t.match(await service.run(id, `agent.page('innerWidth')`), { body: 1280 }, 'and its page has its size');

  const found = (await service.call('GET', `/sessions/${id}/cdp/json/version/`)).body;
  t.match(found, { Browser: /Chrom/, webSocketDebuggerUrl: socketUrl(id) });
  const again = await chromium.connectOverCDP(`${service.url}/sessions/${id}/cdp`);
  t.equal(again.contexts()[0]?.pages().length, 2);
  await again.close();
  await service.call('DELETE', `/api/sessions/${id}`);
});

t.test('A Puppeteer test attaches in the same way', async (t) => {
  const { id } = await service.live();
  await service.run(id, `let kept = 7; agent.go(${JSON.stringify(siteUrl)})`);
  const browser = await connect({ browserWSEndpoint: socketUrl(id), defaultViewport: null });
  const [page] = await browser.pages();
  if (page === undefined) throw new Error('The page of the session is not there');
  t.equal(await page.title(), 'site');
  await page.locator('button').click();
  t.match(await service.run(id, `agent.text('#said')`), { body: 'pressed' });
  const second = await browser.newPage();
  await second.goto(siteUrl);
  t.equal(await second.evaluate('said.textContent'), 'new');
  t.match(await service.run(id, 'agent.tabs().length'), { body: 2 });
  await second.close();
  await browser.disconnect();
  t.match(await service.run(id, 'kept'), { status: 200, body: 7 }, 'the session goes on without it');
  await service.call('DELETE', `/api/sessions/${id}`);
});

t.test('A client that closes the browser ends its session as it should, and nobody crashes it', async (t) => {
  const { id } = await service.live();
  const { socket, ask } = await devTools(id);
  t.match(await ask('Browser.getVersion'), { id: 1, result: { product: /Chrom/ } });
  t.match(await ask('Browser.crash'), { id: 1, error: { message: /not be crashed/ } });
  const closed = once(socket, 'close');
  t.match(await ask('Browser.close'), { id: 1, result: {} });
  t.equal((await closed)[0], 1000);
  t.match((await service.call('GET', `/api/sessions/${id}`)).body, {
    status: 'stopped',
    endReason: 'deleted',
    error: null,
  });
});

t.test('Commands are judged by what they mean, not by how they are spelt', async (t) => {
  const { id } = await service.live();
  await service.run(id, `agent.go(${JSON.stringify(siteUrl)})`);
  const { socket, ask, answered } = await devTools(id);
  const { result: found } = await ask('Target.getTargets');
  const { targetId } = found.targetInfos.find(({ type }: { type: string }) => type === 'page');
  t.match(await ask('Target.attachToTarget', { targetId }), { error: { message: /"flatten": true/ } });
  const { result: attached } = await ask('Target.attachToTarget', { targetId, flatten: true });
  const { sessionId } = attached;

  const elsewhere = mkdtempSync(join(tmpdir(), 'elsewhere-'));
  chmodSync(elsewhere, 0o777);
  t.teardown(() => rmSync(elsewhere, { recursive: true }));
  const path = JSON.stringify(elsewhere);
  for (const method of ['\\u0042rowser.setDownloadBehavior', '\\u0050age.setDownloadBehavior']) {
    const params = `{"behavior":"allow","downloadPath":${path},"eventsEnabled":true}`;
    const answer = await answered(`{"id":1,"method":"${method}","params":${params},"sessionId":"${sessionId}"}`);
    t.match(answer, { sessionId, result: {} }, 'the answer goes to the session that asked');
  }
  await service.run(id, "agent.act('{link}Save', 'click')");
  await eventually(
    'the session has the download',
    async () => (await service.run(id, 'agent.downloads().length')).body === 1,
  );
  t.same(readdirSync(elsewhere), [], 'and no other folder');

  const crash = JSON.stringify({ id: 2, method: 'Browser.crash' });
  t.match(await ask('Target.sendMessageToTarget', { sessionId, message: crash }), {
    error: { message: /"sessionId"/ },
  });
  const drop = { items: [{ mimeType: 'text/uri-list', data: 'file:///etc/hostname' }], dragOperationsMask: 1 };
  t.match(await ask('Input.dispatchDragEvent', { type: 'drop', x: 1, y: 1, data: drop }, sessionId), { error: {} });
  t.match(await ask('Page.navigate', { url: 'fi\nle:///etc/hostname' }, sessionId), { error: {} });
  t.match(await ask('Browser.getVersion'), { result: { product: /Chrom/ } }, 'the browser lives');
  const closed = once(socket, 'close', { signal: AbortSignal.timeout(60_000) });
  t.match(await answered('{"id":1,"method":"\\u0042rowser.close","sessionId":"S"}'), { sessionId: 'S', result: {} });
  t.equal((await closed)[0], 1000);
  t.match((await service.call('GET', `/api/sessions/${id}`)).body, { status: 'stopped', endReason: 'deleted' });
});

t.test('A page that a script opens waits until every client has prepared it', async (t) => {
  const { id } = await service.live();
  await service.run(id, `agent.go(${JSON.stringify(siteUrl)})`);
  const { socket, ask } = await devTools(id);
  const isNew = ({ method, params }: { method: string; params: { waitingForDebugger: boolean } }) =>
    method === 'Target.attachedToTarget' && params.waitingForDebugger;
  const told = new Promise<string>((resolve) => {
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString());
      if (isNew(message)) resolve(message.params.sessionId);
    });
  });
  await ask('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });
  const opened = service.run(
    id,
    `agent.page("void window.open('/')"); agent.wait('navigation'); agent.page('[document.title, window.prepared]')`,
  );
  const session = await told;
  // The session itself has prepared it long before.
  for (let turn = 0; turn < 100; turn += 1) await ask('Browser.getVersion');
  await ask('Page.enable', {}, session);
  await ask('Page.addScriptToEvaluateOnNewDocument', { source: 'window.prepared = true' }, session);
  await ask('Runtime.runIfWaitingForDebugger', {}, session);
  t.match(await opened, { status: 200, body: ['site', true] });
  socket.close();
  await service.call('DELETE', `/api/sessions/${id}`);
});

t.test('A job lets in who has its control, and is not closed by them', async (t) => {
  const js = 'for (;;) agent.wait(20)';
  writeFileSync(`${service.home}/flows/endless.js`, js);
  const task = { prompt: 'wait', flowFiles: ['endless.js'], maxIterations: 0 };
  const { id } = (await service.call('POST', '/api/jobs', task)).body;
  await service.seen(id, 'FlowStarted');
  const refused = async (url: string) => {
    const socket = new WebSocket(url);
    const [error] = await once(socket, 'error', { signal: AbortSignal.timeout(60_000) });
    return String(error);
  };
  t.match(await refused(socketUrl(id)), '409');
  t.match(await refused(socketUrl(id, '?control=x')), '409');
  t.match(await refused(socketUrl('aaaaaaaaaaaa')), '404');
  t.match(await refused(`${service.url.replace('http', 'ws')}/sessions/${id}/desktop`), '404');
  const { control } = (await service.call('POST', `/api/sessions/${id}/control`, { take: true })).body;
  const socket = new WebSocket(socketUrl(id, `?control=${control}`));
  await once(socket, 'open');
  socket.send('{"id": 5, "method": "Browser.close"}');
  const [data] = await once(socket, 'message');
  t.match(JSON.parse(data.toString()), { id: 5, error: { message: /job/ } });
  const gone = once(socket, 'close');
  await service.call('DELETE', `/api/sessions/${id}`);
  t.equal((await gone)[0], 1000, 'it ends with its session');
  t.match(await refused(socketUrl(id)), '409');
});
