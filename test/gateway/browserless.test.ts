import { once } from 'node:events';
import { createServer } from 'node:http';
import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

t.test('Clients of browserless get a session of their own', async (t) => {
  const service = await startTestService(t, { maxSessions: 2 });
  const server = createServer((_, response) => response.end('<title>Shop</title><h1>Tea</h1>'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
  const running = async () => (await service.call('GET', '/api/sessions?state=running')).body.length;
  const json = { headers: { 'content-type': 'application/json' } };
  const post = (path: string, body: unknown) =>
    fetch(service.url + path, { method: 'POST', body: JSON.stringify(body), ...json });

  await t.test('A WebSocket creates it, and its end ends it', async (t) => {
    const launch = encodeURIComponent(JSON.stringify({ args: ['--window-size=900,600'] }));
    const ws = service.url.replace('http', 'ws');
    const browser = await puppeteer.connect({ browserWSEndpoint: `${ws}/cdp?timeout=60000&launch=${launch}` });
    const [page] = await browser.pages();
    await page?.goto(url);
    t.equal(await page?.title(), 'Shop');
    t.equal(await running(), 1);
    await browser.disconnect();
    await eventually('the session has ended', async () => (await running()) === 0);
    const second = await chromium.connectOverCDP(`${ws}/playwright`);
    t.equal(await running(), 1);
    await second.close();
    await eventually('the session has ended', async () => (await running()) === 0);
    const version = (await service.call('GET', '/json/version')).body;
    const third = await puppeteer.connect({ browserURL: service.url });
    t.equal(await running(), 1);
    t.match(await third.version(), version.Browser, 'it is the browser that was named');
    t.equal(await third.userAgent(), version['User-Agent']);
    await third.disconnect();
    const fourth = await chromium.connectOverCDP(`${service.url}?timeout=60000`);
    t.equal(fourth.version(), version.Browser.replace('Chrome/', ''));
    await fourth.close();
    await eventually('the session has ended', async () => (await running()) === 0);
    const refused = await fetch(`${service.url}/cdp?launch=x`, { headers: { upgrade: 'websocket' } }).catch(() => null);
    t.not(refused?.status, 101);
  });

  await t.test('/pdf, /screenshot, /content and /function answer and leave no session', async (t) => {
    const pdf = await post('/pdf', { url, options: { format: 'A4', margin: { top: '1cm' } } });
    t.equal(pdf.headers.get('content-type'), 'application/pdf');
    t.match(Buffer.from(await pdf.arrayBuffer()).toString('latin1'), /^%PDF-/);
    const picture = await post('/screenshot', { html: '<h1>Hi</h1>', options: { type: 'jpeg', fullPage: true } });
    t.equal(picture.headers.get('content-type'), 'image/jpeg');
    t.equal(Buffer.from(await picture.arrayBuffer()).readUInt16BE(0), 0xffd8);
    const content = await post('/content', { url, waitForSelector: { selector: 'h1' }, waitForTimeout: 10 });
    t.match(await content.text(), /<h1>Tea<\/h1>/);
    t.match(content.headers.get('content-security-policy'), /sandbox/, 'as a page of this origin it could act');
    const code = `const help = 1;
      export default async function ({ page, context }) {
        await page.goto(context.url);
        return { data: { title: await page.title(), help }, type: 'application/json' };
      }`;
    t.same(await (await post('/function', { code, context: { url } })).json(), { title: 'Shop', help: 1 });
    t.equal(await running(), 0);
  });

  await t.test('What has no meaning here is refused by name', async (t) => {
    const bad = [
      ['/pdf', {}],
      ['/pdf', { url, html: 'x' }],
      ['/pdf', { url, bestAttempt: true }],
      ['/pdf', { url, options: { format: 'B9' } }],
      ['/screenshot', { url, options: { path: '/etc/passwd' } }],
      ['/content?timeout=x', { url }],
      ['/content?stealth', { url }],
      ['/function', { code: 'import fs from "fs"' }],
      ['/function', { code: '1 +' }],
      ['/function', { code: 'const a = 1' }],
    ] as const;
    for (const [path, body] of bad) t.equal((await post(path, body)).status, 400, `${path} ${JSON.stringify(body)}`);
    t.equal((await post('/content', { url: service.url })).status, 422, 'the service itself stays closed');
    t.equal(await running(), 0);
  });
});

t.test('A token is needed if the service has one, in the URL too', async (t) => {
  process.env.BROWSERLESS_TOKEN = 'a-token-for-this-test';
  t.teardown(() => delete process.env.BROWSERLESS_TOKEN);
  const service = await startTestService(t, { token: 'BROWSERLESS_TOKEN' });
  const { body: viewer } = await service.call(
    'POST',
    '/api/tokens',
    { name: 'v', role: 'view' },
    {
      headers: { authorization: 'Bearer a-token-for-this-test' },
    },
  );
  for (const path of ['/pdf', '/screenshot', '/content', '/function']) {
    t.equal((await service.call('POST', path, {})).status, 401, path);
    t.equal((await service.call('POST', `${path}?token=another`, {})).status, 401, path);
    t.equal((await service.call('POST', `${path}?token=${viewer.token}`, {})).status, 403, path);
    t.equal((await service.call('POST', `${path}?token=a-token-for-this-test`, {})).status, 400, path);
  }
  const ws = service.url.replace('http', 'ws');
  await t.rejects(puppeteer.connect({ browserWSEndpoint: `${ws}/cdp` }));
  await t.rejects(puppeteer.connect({ browserWSEndpoint: `${ws}/playwright?token=${viewer.token}` }));
  t.equal((await service.call('GET', '/api/sessions?token=a-token-for-this-test')).status, 401, 'nowhere else');
});
