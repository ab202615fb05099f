import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { connect } from 'puppeteer-core';
import t from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const MIB = 1024 * 1024;
const service = await startTestService(t);
const site = createServer((request, response) => {
  const send = (type: string, body: string) => response.writeHead(200, { 'content-type': type }).end(body);
  switch (request.url) {
    case '/file':
      response.writeHead(200, { 'content-disposition': 'attachment; filename=note.txt' }).end('carried');
      return;
    case '/worker.js':
      return send('text/javascript', 'onmessage = ({ data }) => postMessage(data * 2)');
    case '/style.css':
      return send('text/css', '#said { color: red } .unused { color: blue }');
    case '/script.js':
      return send('text/javascript', 'function used() { return 1 } function unused() { return 2 } used()');
    case '/other':
      return send('text/html', '<title>other</title>');
    default:
      return send(
        'text/html',
        `<title>site</title><link rel=stylesheet href=/style.css><script src=/script.js></script>
        <button id=press onclick="said.textContent = 'pressed'">Press</button><p id=said>new</p>
        <button id=ask onclick="said.textContent = confirm('Sure?')">Ask</button>
        <input id=text><input id=files type=file multiple>
        <a id=save href=/file>Save</a><a id=popup target=_blank href=/other>Open</a>
        <div id=from draggable=true style="width:50px;height:50px">drag</div>
        <div id=to style="width:50px;height:50px" ondragover="event.preventDefault()"
          ondrop="said.textContent = 'dropped'; event.preventDefault()">drop</div><iframe src=/other></iframe>`,
      );
  }
});
await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
t.teardown(() => {
  site.closeAllConnections();
  site.close();
});
const siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;

/** Stands between a client and the service, and keeps which commands go by and which answers are errors of the tunnel. */
async function recorded(t: { teardown(work: () => unknown): void }, id: string) {
  const sent = new Set<string>();
  const refused: string[] = [];
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  await once(server, 'listening');
  server.on('connection', (client) => {
    const tunnel = new WebSocket(`${service.url.replace('http', 'ws')}/sessions/${id}/cdp`, {
      perMessageDeflate: false,
    });
    const opened = once(tunnel, 'open');
    client.on('message', async (data) => {
      sent.add(JSON.parse(data.toString()).method);
      await opened;
      tunnel.send(data.toString());
    });
    tunnel.on('message', (data) => {
      const { error } = JSON.parse(data.toString());
      if (error !== undefined && /is refused: /.test(error.message)) refused.push(error.message);
      client.send(data.toString());
    });
    client.on('close', () => tunnel.close());
    tunnel.on('close', () => client.close());
  });
  t.teardown(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, sent, refused };
}

const nameAndSize = "[...document.querySelector('#files').files].map(({ name, size }) => name + ' ' + size).join()";

t.test('All that a Playwright test does passes the tunnel', async (t) => {
  const { id } = await service.live();
  const { url, sent, refused } = await recorded(t, id);
  const browser = await chromium.connectOverCDP(url);
  t.teardown(() => browser.close());
  const context = await browser.newContext({
    viewport: { width: 800, height: 600 },
    locale: 'de-DE',
    timezoneId: 'Asia/Tokyo',
    geolocation: { latitude: 1, longitude: 2 },
    permissions: ['geolocation'],
    colorScheme: 'dark',
    hasTouch: true,
    userAgent: 'a test',
    extraHTTPHeaders: { 'x-a': 'b' },
    httpCredentials: { username: 'u', password: 'p' },
    ignoreHTTPSErrors: true,
    bypassCSP: true,
    serviceWorkers: 'block',
  });
  await context.addInitScript('window.early = 1');
  await context.tracing.start({ screenshots: true, snapshots: true, sources: false });
  await context.route('**/routed', (route) => route.fulfill({ body: 'answered' }));
  await context.route('**/aborted', (route) => route.abort());
  await context.route('**/other', (route) => route.continue({ url: `${siteUrl}other`, headers: { 'x-c': 'd' } }));
  const page = await context.newPage();
  await page.exposeFunction('told', (value: number) => value + 1);
  await page.goto(siteUrl);

  await page.getByRole('button', { name: 'Press' }).click();
  t.equal(await page.locator('#said').textContent(), 'pressed');
  await page.locator('#text').fill('a');
  await page.locator('#text').press('End');
  await page.keyboard.type('b');
  await page.keyboard.insertText('é');
  t.equal(await page.locator('#text').inputValue(), 'abé');
  await page.locator('#press').hover();
  await page.locator('#press').tap();
  await page.mouse.wheel(0, 10);
  await page.dragAndDrop('#from', '#to');
  t.equal(await page.locator('#said').textContent(), 'dropped');
  page.once('dialog', (dialog) => void dialog.accept());
  await page.locator('#ask').click();
  t.equal(await page.locator('#said').textContent(), 'true');

  t.equal(await page.evaluate("fetch('/routed').then((answer) => answer.text())"), 'answered');
  t.equal(await page.evaluate("fetch('/aborted').catch(() => 'aborted')"), 'aborted');
  t.equal(await page.evaluate('window.told(1)'), 2);
  const said =
    await page.evaluate(`new Promise((resolve) => navigator.geolocation.getCurrentPosition(({ coords }) => resolve([
    coords.latitude, navigator.language, new Date().getTimezoneOffset(), matchMedia('(prefers-color-scheme: dark)').matches,
    navigator.userAgent, window.early])))`);
  t.same(said, [1, 'de-DE', -540, true, 'a test', 1]);

  await page
    .locator('#files')
    .setInputFiles({ name: 'small.txt', mimeType: 'text/plain', buffer: Buffer.from('small') });
  t.equal(await page.evaluate(nameAndSize), 'small.txt 5');
  const [large, trace] = [join(tmpdir(), 'large.bin'), join(tmpdir(), 'trace.zip')];
  t.teardown(() => {
    for (const path of [large, trace]) rmSync(path, { force: true });
  });
  writeFileSync(large, Buffer.alloc(8 * MIB));
  const chooser = page.waitForEvent('filechooser');
  await page.locator('#files').click();
  await (await chooser).setFiles(large);
  t.equal(await page.evaluate(nameAndSize), `large.bin ${8 * MIB}`, "a file of the client's, by its content");

  const download = page.waitForEvent('download');
  await page.locator('#save').click();
  t.equal((await download).suggestedFilename(), 'note.txt');
  const popup = context.waitForEvent('page');
  await page.locator('#popup').click();
  const other = await popup;
  t.equal(await other.title(), 'other');
  await other.close();

  const worker = page.waitForEvent('worker');
  await page.evaluate("window.worker = new Worker('/worker.js')");
  t.equal(await (await worker).evaluate('1 + 1'), 2);
  await context.addCookies([{ name: 'a', value: 'b', url: siteUrl }]);
  t.match(await context.cookies(), [{ name: 'a', value: 'b' }]);
  await context.clearCookies();
  await context.setOffline(true);
  await context.setOffline(false);
  await context.setGeolocation(null);
  await context.clearPermissions();
  await page.emulateMedia({ media: 'print', reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 700, height: 500 });
  t.equal((await page.screenshot({ fullPage: true, omitBackground: true })).subarray(1, 4).toString(), 'PNG');
  t.equal((await page.pdf()).subarray(0, 4).toString(), '%PDF');
  t.match(await page.locator('body').ariaSnapshot(), /button "Press"/);
  t.equal(await page.frameLocator('iframe').locator('title').textContent(), 'other');
  t.ok((await context.storageState()).origins);

  await page.coverage.startJSCoverage();
  await page.coverage.startCSSCoverage();
  await page.reload();
  t.ok((await page.coverage.stopJSCoverage()).some(({ url }) => url.endsWith('script.js')));
  t.ok((await page.coverage.stopCSSCoverage()).some(({ url }) => url.endsWith('style.css')));
  await page.goto(`${siteUrl}other`);
  await page.goBack();
  await page.goForward();
  await page.setContent('<p>set</p>');
  await page.requestGC();
  await page.bringToFront();

  const own = await context.newCDPSession(page);
  t.match(await own.send('Runtime.evaluate', { expression: '3' }), { result: { value: 3 } });
  await own.send('Accessibility.getFullAXTree');
  await own.detach();
  const root = await browser.newBrowserCDPSession();
  t.match(await root.send('Browser.getVersion'), { product: /Chrom/ });
  await root.detach();
  await context.tracing.stop({ path: trace });
  t.equal(readFileSync(trace).subarray(0, 2).toString(), 'PK');
  await browser.startTracing(page, { screenshots: true });
  t.match(String(await browser.stopTracing()), /traceEvents/);
  await context.close();

  t.same(refused, []);
  for (const method of [
    'Fetch.fulfillRequest',
    'Page.printToPDF',
    'Tracing.start',
    'IO.read',
    'Target.attachToBrowserTarget',
  ]) {
    t.ok(sent.has(method), method);
  }
  t.notOk(sent.has('DOM.setFileInputFiles'), 'it names no file of the machine');
  t.comment([...sent].sort().join(' '));
});

t.test('All that a Puppeteer test does passes the tunnel, and its files are uploads of the session', async (t) => {
  const { id } = await service.live();
  const { url, sent, refused } = await recorded(t, id);
  const browser = await connect({ browserWSEndpoint: url });
  t.teardown(() => browser.disconnect());
  const context = await browser.createBrowserContext();
  await context.overridePermissions(siteUrl, ['geolocation']);
  const page = await context.newPage();
  await page.setViewport({ width: 800, height: 600, hasTouch: true });
  await page.setUserAgent('a test');
  await page.setExtraHTTPHeaders({ 'x-a': 'b' });
  await page.authenticate({ username: 'u', password: 'p' });
  await page.emulateTimezone('Asia/Tokyo');
  await page.setGeolocation({ latitude: 1, longitude: 2 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
  await page.emulateCPUThrottling(2);
  await page.emulateNetworkConditions({ download: 1e9, upload: 1e9, latency: 0 });
  await page.emulateVisionDeficiency('none');
  await page.setCacheEnabled(false);
  await page.setBypassCSP(true);
  await page.evaluateOnNewDocument('window.early = 1');
  await page.exposeFunction('told', (value: number) => value + 1);
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    if (request.url().endsWith('/routed')) void request.respond({ body: 'answered' });
    else if (request.url().endsWith('/aborted')) void request.abort();
    else void request.continue();
  });
  await page.tracing.start({ screenshots: true });
  await page.coverage.startJSCoverage();
  await page.coverage.startCSSCoverage();
  await page.goto(siteUrl);
  t.ok((await page.coverage.stopJSCoverage()).some(({ url }) => url.endsWith('script.js')));
  t.ok((await page.coverage.stopCSSCoverage()).some(({ url }) => url.endsWith('style.css')));
  t.match(new TextDecoder().decode(await page.tracing.stop()), /traceEvents/);

  await page.locator('#press').click();
  t.equal(await page.evaluate('said.textContent'), 'pressed');
  await page.type('#text', 'ab');
  await page.keyboard.press('End');
  await page.keyboard.sendCharacter('é');
  t.equal(await page.evaluate("document.querySelector('#text').value"), 'abé');
  await page.tap('#press');
  await page.mouse.wheel({ deltaY: 10 });
  page.once('dialog', (dialog) => void dialog.accept());
  await page.click('#ask');
  t.equal(await page.evaluate('said.textContent'), 'true');
  t.equal(await page.evaluate("fetch('/routed').then((answer) => answer.text())"), 'answered');
  t.equal(await page.evaluate("fetch('/aborted').catch(() => 'aborted')"), 'aborted');
  t.equal(await page.evaluate('window.told(1)'), 2);
  t.same(await page.evaluate('[navigator.userAgent, window.early, new Date().getTimezoneOffset()]'), [
    'a test',
    1,
    -540,
  ]);

  const popup = new Promise<{ title(): Promise<string> } | null>((resolve) => page.once('popup', resolve));
  await page.click('#popup');
  t.ok(await popup);
  const worker = new Promise<{ evaluate(source: string): Promise<unknown> }>((resolve) =>
    page.once('workercreated', resolve),
  );
  await page.evaluate("window.worker = new Worker('/worker.js')");
  t.equal(await (await worker).evaluate('1 + 1'), 2);
  await browser.setCookie({ name: 'a', value: 'b', domain: '127.0.0.1' });
  t.match(await browser.cookies(), [{ name: 'a', value: 'b' }]);
  t.ok(await page.screenshot({ fullPage: true, omitBackground: true }));
  t.equal(new TextDecoder().decode(await page.pdf()).slice(0, 4), '%PDF');
  t.ok(await page.accessibility.snapshot());
  t.ok(await page.metrics());
  t.ok(await page.$('aria/Press'));
  await page.goto(`${siteUrl}other`);
  await page.goBack();
  await page.setContent('<input id=files type=file multiple>');
  await page.bringToFront();

  const input = await page.$('input[type=file]');
  await service.call('PUT', `/api/sessions/${id}/files/note.txt`, 'note');
  const said = await input?.uploadFile('/etc/hostname').catch(String);
  t.match(said, /PUT the file to \/api\/sessions\/[a-z0-9]+\/files\/NAME first and give the path \/.*\/NAME/i);
  const [, folder] = /the path (.*)\/NAME/.exec(String(said)) ?? [];
  await input?.uploadFile(`${folder}/note.txt`);
  t.equal(await page.evaluate(nameAndSize), 'note.txt 4');
  t.equal(await page.evaluate("document.querySelector('#files').files[0].text()"), 'note');

  const own = await page.createCDPSession();
  t.match(await own.send('Runtime.evaluate', { expression: '3' }), { result: { value: 3 } });
  await own.send('Page.setDownloadBehavior', { behavior: 'allow', downloadPath: '/etc' });
  await own.detach();
  await context.close();

  t.equal(refused.length, 1, 'but the file of the machine nothing is refused');
  for (const method of [
    'Fetch.fulfillRequest',
    'Page.printToPDF',
    'Tracing.start',
    'IO.read',
    'DOM.setFileInputFiles',
  ]) {
    t.ok(sent.has(method), method);
  }
  t.comment([...sent].sort().join(' '));
});
