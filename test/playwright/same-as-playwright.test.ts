import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stripVTControlCharacters } from 'node:util';
import { chromium, expect } from 'playwright/test';
import t from 'tap';
import { CLASSES } from '#troupe/agent-js/playwright-api/classes.js';
import { LOCATOR_MATCHERS, PAGE_MATCHERS, VALUE_MATCHERS } from '#troupe/agent-js/playwright-api/matchers.js';
import { guardLeaks } from '../support/leaks.js';
import { sampled } from '../support/sampled.js';
import { startTestService } from '../support/service.js';
import { CALLS, PAGE } from './calls.js';

guardLeaks(t);

const server = createServer((request, response) => {
  const answer = (type: string, body: string) => response.writeHead(200, { 'content-type': type }).end(body);
  if (request.url === '/data') return answer('application/json', '{"tea": "green"}');
  if (request.url === '/headers') return answer('text/plain', JSON.stringify(request.headers));
  if (request.url === '/file.txt') return answer('application/octet-stream', 'tea');
  if (request.url === '/other') return answer('text/html', '<title>Other</title>');
  return answer('text/html', PAGE);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => server.close());
const { port } = server.address() as AddressInfo;
const url = `http://127.0.0.1:${port}/`;
const service = await startTestService(t, { forward: [port] });
const [ours, theirs] = [await service.live(), await service.live()];
const browser = await chromium.connectOverCDP(`${service.url.replace('http', 'ws')}/sessions/${theirs.id}/cdp`);
t.teardown(() => browser.close());
const [context] = browser.contexts();
const [page] = context?.pages() ?? [];

const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor;

async function direct(source: string): Promise<unknown> {
  await page?.goto(url);
  try {
    const value: unknown = await new AsyncFunction('page', 'context', 'expect', 'url', source)(
      page,
      context,
      expect,
      url,
    );
    return { value: value === undefined ? null : JSON.parse(JSON.stringify(value)) };
  } catch (error) {
    return { error: stripVTControlCharacters(error instanceof Error ? error.message : String(error)) };
  }
}

async function inScript(source: string): Promise<unknown> {
  const js = `var url = ${JSON.stringify(url)}; page.goto(url); (async () => {${source}\n})()`;
  const { status, body } = await service.run(ours.id, js);
  return status === 200 ? { value: body } : { error: body.error };
}

/** Times, the order of attempts, and their number differ from run to run. */
function comparable(outcome: unknown): unknown {
  return JSON.parse(
    JSON.stringify(outcome)
      .replace(/\d+ × /g, 'N × ')
      .replace(
        /\\n\s*-? *(?:\d+ × )?(?:waiting for|locator resolved|unexpected value|attempting|retrying|scrolling|done scrolling|did not find some options|waiting \d+ms|N ×)(?:[^\\]|\\")*/g,
        '',
      )
      .replace(/ +\d+(\.\d+)?ms/g, ' Nms'),
    (key, value) => (key === 'error' ? [...new Set(String(value).split(/\s*\n\s*/))].join('\n') : value),
  );
}

t.test('every method of the table does and says what Playwright does', async (t) => {
  for (const source of sampled(CALLS, { name: 'playwright-calls', count: 20 })) {
    const [expected, found] = await Promise.all([direct(source), inScript(source)]);
    t.same(comparable(found), comparable(expected), source);
  }
});

t.test('the calls have every method and matcher of the table', async (t) => {
  const all = CALLS.join('\n');
  const matchers = [LOCATOR_MATCHERS, PAGE_MATCHERS, VALUE_MATCHERS].flatMap((table) => Object.keys(table));
  const methods = Object.values(CLASSES).flatMap((methods) => Object.keys(methods));
  // These have tests of their own: what they do differs from Playwright.
  const own = ['route', 'unroute', 'unrouteAll', 'saveAs', 'setInputFiles', 'setFiles', 'cancel'];
  const clock = Object.keys(CLASSES.Clock);
  const missing = [...new Set([...methods, ...matchers])].filter((name) => !all.includes(`.${name}(`));
  t.same(
    missing.filter((name) => !own.includes(name) && !clock.includes(name)),
    [],
  );
});
