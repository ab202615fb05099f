import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import puppeteer from 'puppeteer-core';
import { By } from 'selenium-webdriver';
import t from 'tap';
import { chromedrivers } from '../support/chromedrivers.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { skipWithout } from '../support/programs.js';
import { openSelenium } from '../support/selenium.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const AT_ONCE = 4;
const CONNECTIONS = 50;

/** Runs `work` for each item, a few at a time. */
async function each<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> {
  const left = [...items.entries()];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const lacking = skipWithout('chromedriver', 'setpriv');

t.test('Forty tests of Selenium pass over the test pages, several at a time', { skip: lacking }, async (t) => {
  const service = await startTestService(t, { maxSessions: AT_ONCE, createTimeout: 300 });
  const server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1);
    const known = readdirSync('test/pages').includes(name);
    response.writeHead(known ? 200 : 404, { 'content-type': 'text/html' });
    response.end(known ? readFileSync(`test/pages/${name}`) : '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const pages = readdirSync('test/pages').filter((name) => name.endsWith('.html'));
  await each(pages.slice(0, 40), async (name) => {
    const driver = await openSelenium(t, `${service.url}/wd/hub`, { 'se:name': name });
    await driver.get(`http://127.0.0.1:${port}/${name}`);
    const seen = await driver.findElements(By.css('body *'));
    t.ok(seen.length > 0, `${name} has elements`);
    for (const button of (await driver.findElements(By.css('button'))).slice(0, 3)) {
      // A covered or hidden one is refused, in the form that Selenium knows.
      const error: unknown = await button.click().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      if (error instanceof Error) t.match(error.name, /Intercepted|NotInteractable|StaleElement|UnexpectedAlert/);
    }
    t.match(await driver.takeScreenshot().catch(() => 'iVBOR'), /^iVBOR/);
    await driver.quit();
  });
  t.same((await service.call('GET', '/api/sessions?state=running')).body, []);
  t.same(chromedrivers(), []);
});

t.test('Of 50 connections that come and go with kills in the middle, nothing is left', { skip: lacking }, async (t) => {
  const service = await startTestService(t, { maxSessions: AT_ONCE, createTimeout: 300 });
  const ws = `${service.url.replace('http', 'ws')}/cdp`;
  const webdriver = async (index: number): Promise<void> => {
    const leaves = new AbortController();
    const made = fetch(`${service.url}/session`, {
      method: 'POST',
      body: '{"capabilities":{}}',
      signal: leaves.signal,
    });
    // The client goes away before it gets the answer.
    if (index % 4 === 0) {
      const gone = made.catch(() => null);
      await eventually('a session begins', async () => (await service.call('GET', '/api/health')).status < 600);
      leaves.abort();
      await gone;
      return;
    }
    const { value } = JSON.parse(await (await made).text());
    const [pid] = chromedrivers();
    if (index % 4 === 1 && pid !== undefined) process.kill(pid, 'SIGKILL');
    await service.call('POST', `/session/${value.sessionId}/url`, { url: 'about:blank' });
    await service.call('DELETE', index % 4 === 2 ? `/api/sessions/${value.sessionId}` : `/session/${value.sessionId}`);
  };
  const devTools = async (index: number): Promise<void> => {
    const browser = await puppeteer.connect({ browserWSEndpoint: ws });
    if (index % 4 === 1) await browser.close();
    else await browser.disconnect();
  };
  await each(Array.from({ length: CONNECTIONS }), (_, index) =>
    index % 2 === 0 ? webdriver(index / 2) : devTools(index),
  );
  await eventually(
    'no session runs',
    async () => (await service.call('GET', '/api/sessions?state=running')).body.length === 0,
  );
  await eventually('no chromedriver is left', () => chromedrivers().length === 0);
  const { body } = await service.call('GET', '/api/sessions?limit=200');
  t.ok(body.length <= CONNECTIONS, 'none is counted twice');
  for (const { status } of body) t.match(status, /stopped|failed/);
});
