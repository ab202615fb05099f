import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import t from 'tap';
import { Farm } from '#troupe/playwright-test/farm.js';
import { sessionOptions } from '#troupe/playwright-test/session-options.js';
import { isKept, isRecorded } from '#troupe/playwright-test/video.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';
import { runSuite } from './run-suite.js';

guardLeaks(t);

const CHROMIUM = { browserName: 'chromium', channel: undefined, launchOptions: {} };

/** A suite in TypeScript, compiled to CommonJS as Playwright does it where a package is not of type "module". */
const SUITE = `
import { expect, test } from 'troupe/playwright';

test('a shop', async ({ page, context, request, session }, info) => {
  await page.goto('/');
  await expect(page).toHaveURL('/');
  expect(await page.evaluate(() => [
    navigator.language, new Date(0).getTimezoneOffset(), matchMedia('(prefers-color-scheme: dark)').matches,
    innerWidth, innerHeight, localStorage.getItem('kept'),
  ])).toEqual(['de-DE', -540, true, 900, 600, 'yes']);
  expect(page.viewportSize()).toEqual({ width: 900, height: 600 });
  expect(await page.textContent('#header')).toBe('b');
  await context.setGeolocation({ latitude: 5, longitude: 6 });
  expect(await page.evaluate(() => new Promise((ok) => navigator.geolocation.getCurrentPosition((p) => ok(p.coords.latitude))))).toBe(5);
  expect(await (await page.request.get('/data')).text()).toBe('data');
  await page.setInputFiles('input', { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('up') });
  expect(await page.evaluate(() => document.querySelector('input').files[0].text())).toBe('up');
  const downloads = [];
  for (const _ of [1, 2]) {
    const waiting = page.waitForEvent('download');
    await page.click('a');
    const download = await waiting;
    await download.failure();
    downloads.push(download);
  }
  for (const [at, download] of downloads.entries()) {
    const expected = 'file ' + (at + 1);
    await download.saveAs(info.outputPath('saved.txt'));
    expect(require('node:fs').readFileSync(info.outputPath('saved.txt'), 'utf8')).toBe(expected);
    expect(require('node:fs').readFileSync(await download.path(), 'utf8')).toBe(expected);
  }
  expect(await session.run('agent.text("#header")')).toBe('b');
});
test('a failure', async ({ page }) => {
  await page.goto('/');
  await expect(page.locator('#header')).toHaveText('c', { timeout: 10 });
});
test('a context of its own', async ({ browser }) => {
  const context = await browser.newContext({ isMobile: true, hasTouch: true, deviceScaleFactor: 2 });
  const page = await context.newPage();
  await page.goto('/');
  expect(await page.evaluate(() => devicePixelRatio)).toBe(2);
  await context.close();
});
test('a stopped session', async ({ page, session }) => {
  await session.stop();
  await expect.poll(() => page.isClosed(), { timeout: 20_000 }).toBe(true);
});
test('no browser', async ({ request }) => {
  expect(await (await request.get('/data')).text()).toBe('data');
});
test.describe('a phone', () => {
  test.use({ isMobile: true, hasTouch: true });
  test('a refusal', async ({ page }) => undefined);
});
`;

t.test('a suite runs with its options, files and failures as it does elsewhere', async (t) => {
  let files = 0;
  const server = createServer((request, response) => {
    if (request.url === '/data') {
      response.end('data');
      return;
    }
    if (request.url === '/file') {
      files += 1;
      response.writeHead(200, { 'content-disposition': 'attachment; filename=f.txt' }).end(`file ${files}`);
      return;
    }
    const header = String(request.headers['x-a']);
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<p id=header>${header}</p><a href=/file>File</a><input type=file>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const service = await startTestService(t, { maxSessions: 4 });

  const folder = t.testdir({ node_modules: { '@playwright': {} }, 'package.json': '{}', 'a.spec.ts': SUITE });
  symlinkSync(resolve('.'), join(folder, 'node_modules', 'troupe'));
  symlinkSync(resolve('node_modules/@playwright/test'), join(folder, 'node_modules', '@playwright', 'test'));
  const state = { cookies: [], origins: [{ origin: url, localStorage: [{ name: 'kept', value: 'yes' }] }] };
  mkdirSync(join(folder, 'state'));
  writeFileSync(join(folder, 'state', 'user.json'), JSON.stringify(state));
  writeFileSync(
    join(folder, 'playwright.config.ts'),
    `export default { workers: 2, fullyParallel: true, timeout: 90_000, outputDir: 'out', use: {
  baseURL: ${JSON.stringify(url)}, viewport: { width: 900, height: 600 }, locale: 'de-DE', timezoneId: 'Asia/Tokyo',
  colorScheme: 'dark', permissions: ['geolocation'], extraHTTPHeaders: { 'x-a': 'b' }, trace: 'retain-on-failure',
  screenshot: 'only-on-failure', storageState: ${JSON.stringify(join(folder, 'state', 'user.json'))},
  troupe: { url: ${JSON.stringify(service.url)}, labels: { suite: 'test' } } } };`,
  );
  const { outcomes, said } = await runSuite(folder, {});
  const { 'a shop': shop, 'a failure': failure, 'a stopped session': stopped, 'a refusal': refusal } = outcomes;
  t.match(shop, { status: 'passed' }, said.slice(0, 5_000));
  t.match(shop?.annotations.join(), new RegExp(`troupe session: ${service.url}/`));
  t.match(failure, { status: 'failed', errors: /toHaveText[\s\S]*Received/ });
  t.same(
    failure?.attachments
      .map(({ name }) => name)
      .filter((name) => name !== 'error-context')
      .sort(),
    ['screenshot', 'trace'],
  );
  t.match(outcomes['a context of its own'], { status: 'passed' });
  t.match(outcomes['no browser'], { status: 'passed' });
  t.match(stopped, { status: 'failed', errors: /The session \w+ has ended before its test: somebody stopped it/ });
  t.match(refusal, { status: 'failed', errors: /does not offer isMobile, hasTouch: only a new context can have them/ });

  const { body } = await service.call('GET', '/api/sessions');
  const seen = body.map(({ name, status, labels }: { name: string; status: string; labels: { suite: string } }) =>
    [name, status, labels.suite].join(),
  );
  t.same(
    new Set(seen),
    new Set([
      'a shop,stopped,test',
      'a failure,stopped,test',
      'a stopped session,stopped,test',
      seen.find((one: string) => one.startsWith('browser of worker')) ?? 'the worker’s',
    ]),
  );
});

t.test('what a session cannot have is refused by name', async (t) => {
  const refusals: readonly [object, RegExp][] = [
    [{ browserName: 'firefox' }, /browserName: firefox.*Chromium/],
    [{ browserName: 'webkit' }, /browserName: webkit/],
    [{ channel: 'msedge' }, /channel: msedge/],
    [{ launchOptions: { args: ['--x'], executablePath: '/bin/sh' } }, /launchOptions: args, executablePath/],
    [{ deviceScaleFactor: 3 }, /deviceScaleFactor/],
    [{ javaScriptEnabled: false, bypassCSP: true }, /javaScriptEnabled, bypassCSP/],
    [{ acceptDownloads: false }, /acceptDownloads/],
    [{ serviceWorkers: 'block' }, /serviceWorkers/],
    [{ clientCertificates: [{ origin: 'https://a.test' }] }, /clientCertificates/],
    [{ httpCredentials: { username: 'a', password: 'b', origin: 'https://a.test' } }, /httpCredentials/],
    [{ recordHar: { path: 'a.har' }, recordVideo: { dir: 'a' } }, /recordHar, recordVideo/],
    [{ storageState: '/nowhere/state.json' }, /\/nowhere\/state.json cannot be read/],
  ];
  for (const [use, message] of refusals) {
    t.throws(() => sessionOptions({ ...CHROMIUM, ...use }), { code: 'INVALID_REQUEST', message }, String(message));
  }
});

t.test('options of desktop devices ask for nothing that makes a session wait', async (t) => {
  const desktop = { viewport: { width: 1280, height: 720 }, deviceScaleFactor: 1, isMobile: false, hasTouch: false };
  t.same(sessionOptions({ ...CHROMIUM, ...desktop, locale: 'en-US', launchOptions: { headless: false } }), {});
});

t.test('the modes of videos are those of Playwright', async (t) => {
  const at = (retry: number, status = 'passed') => ({ retry, status, expectedStatus: 'passed' }) as never;
  t.same(
    (['off', 'on', 'retain-on-failure', 'on-first-retry'] as const).map((mode) => [
      isRecorded(mode, at(0)),
      isRecorded(mode, at(1)),
      isKept(mode, at(0)),
      isKept(mode, at(0, 'failed')),
    ]),
    [
      [false, false, true, true],
      [true, true, true, true],
      [true, true, false, true],
      [false, true, true, true],
    ],
  );
});

t.test('without a service the error says how to start one', async (t) => {
  const farm = new Farm({ url: 'http://127.0.0.1:1' });
  await t.rejects(farm.create({ name: 'a test', labels: {} }, {}), {
    code: 'UNAVAILABLE',
    message: /127\.0\.0\.1:1.*TROUPE_URL/,
  });
});
