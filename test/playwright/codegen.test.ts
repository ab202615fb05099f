import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';
import { PAGE } from './calls.js';

guardLeaks(t);

const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => server.close());
const { port } = server.address() as AddressInfo;
const url = `http://127.0.0.1:${port}/`;
const service = await startTestService(t, { forward: [port] });

const flow = async (name: string, source: string) => {
  writeFileSync(join(service.home, 'flows', `${name}.js`), source);
  return service.job({ prompt: name, flowFiles: [`${name}.js`], maxIterations: 0 });
};

/** As `npx playwright codegen` prints it, with our address. */
const TEST_TARGET = `import { test, expect } from '@playwright/test';

test('test', async ({ page }) => {
  await page.goto('${url}');
  await page.getByRole('textbox', { name: 'Name' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Ada');
  await page.getByRole('checkbox', { name: 'Agree' }).check();
  await page.getByLabel('Kind').selectOption('b');
  page.once('dialog', dialog => {
    console.log(\`Dialog message: \${dialog.message()}\`);
    dialog.dismiss().catch(() => {});
  });
  await page.getByRole('button', { name: 'Ask' }).click();
  await expect(page.locator('#out')).toContainText('false');
  const page1Promise = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Popup' }).click();
  const page1 = await page1Promise;
  await expect(page1.getByRole('heading', { name: 'Tea' })).toBeVisible();
  const downloadPromise = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Load' }).click();
  const download = await downloadPromise;
  await page.locator('iframe[name="inner"]').contentFrame().getByRole('button', { name: 'Inside' }).click();
  await page1.close();
  await expect(page.getByRole('textbox', { name: 'Name' })).toHaveValue('Ada');
});
`;

const LIBRARY_TARGET = `const { chromium } = require('playwright');

(async () => {
  const browser = await chromium.launch({
    headless: false
  });
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto('${url}');
  await page.getByRole('button', { name: 'Go' }).click();
  if ((await page.textContent('#out')) !== 'went') throw new Error('not gone');
  const page1 = await context.newPage();
  await page1.goto('${url}?2');
  await page1.close();

  // ---------------------
  await context.close();
  await browser.close();
})();`;

t.test('what the recorder prints runs as a flow: test target and library target', async (t) => {
  t.match(await flow('pw-test', TEST_TARGET), { status: 'completed' });
  t.match(await flow('pw-library', LIBRARY_TARGET), { status: 'completed' });
});

t.test('describe, hooks, steps and loops run in the order of @playwright/test', async (t) => {
  const { id } = await service.live();
  const source = `const { test, expect } = require('@playwright/test');
var order = [];
test.beforeAll(() => { order.push('all') });
test.beforeEach(async ({ page }) => { order.push('each'); await page.goto('${url}') });
test.afterEach(async () => { order.push('after') });
for (const name of ['Go', 'Twice']) {
  test('button ' + name, async ({ page, context }) => {
    order.push(name);
    await expect(page.getByRole('button', { name })).toBeVisible();
  });
}
test.describe('inner', () => {
  test.beforeEach(() => { order.push('inner each') });
  test('storage is empty', async ({ page }) => {
    order.push(await test.step('read', async () => await page.evaluate(() => localStorage.length + document.cookie)));
    await page.evaluate(() => { localStorage.setItem('a', 'b'); document.cookie = 'c=d' });
  });
  test('and stays so', async ({ page }) => {
    order.push(await page.evaluate(() => localStorage.length + document.cookie));
  });
  test.skip('is not run', () => { order.push('skipped') });
});`;
  t.match(await service.run(id, source), { status: 200 });
  const inner = ['each', 'inner each', '0', 'after'];
  t.same((await service.run(id, 'order')).body, [
    'all',
    'each',
    'Go',
    'after',
    'each',
    'Twice',
    'after',
    ...inner,
    ...inner,
  ]);
  const inPage = "page.evaluate(() => { document.title = 'set'; String(1); throw 'of the page'; })";
  t.match((await service.run(id, inPage)).body, { error: /of the page/ }, 'the page gets what was written');
  t.match(
    await service.run(
      id,
      `import { test, expect } from '@playwright/test';\ntest('x', async ({ page }) => {\n  expect(await page.title()).toBe('no');\n});`,
    ),
    {
      status: 422,
      body: { code: 'MATCH_FAILED', details: { line: 3 } },
    },
  );
});

t.test('a test that fails fails its flow, with line and Playwright’s text', async (t) => {
  const failing = `import { test, expect } from '@playwright/test';
test('fails', async ({ page }) => {
  await page.goto('${url}');
  await expect(page.locator('#head')).toHaveText('Coffee', { timeout: 50 });
});`;
  t.match(await flow('pw-fails', failing), {
    status: 'failed',
    error: { code: 'FLOW_FAILED', error: /toHaveText[\s\S]*Coffee/ },
  });
});

t.test('what only a new session can have is refused by name', async (t) => {
  const { id } = await service.live();
  const refusals = [
    ["require('playwright').chromium.launch({executablePath: '/bin/sh'})", /executablePath/],
    ["require('playwright').chromium.launch().newContext({locale: 'de'})", /locale/],
    ["require('playwright').firefox.launch()", /Chromium/],
    ["require('fs')", /only, not fs/],
    ["require('@playwright/test').test.use({storageState: 'x.json'})", /storageState/],
    ["require('@playwright/test').test.extend({})", /extend/],
  ] as const;
  for (const [js, error] of refusals) t.match(await service.run(id, js), { body: { code: 'SCRIPT_ERROR', error } }, js);
});

t.test('A flow with several tests names the one that failed, whatever was thrown in it', async (t) => {
  const several = (body: string) => `import { test, expect } from '@playwright/test';
test.describe('shop', () => {
  test('lists', async ({ page }) => { await page.goto('${url}'); });
  test('pays', async ({ page }) => { ${body} });
  test('ships', async () => undefined);
});`;
  const bodies = {
    expect: "await expect(page.locator('#head')).toHaveText('Coffee', { timeout: 50 });",
    error: "throw new Error('sold out');",
    call: "agent.act('{button}Nowhere', 'click', { timeout: 50 });",
  };
  for (const [name, body] of Object.entries(bodies)) {
    const job = await flow(`pw-several-${name}`, several(body));
    t.equal(job.status, 'failed', name);
    const { failure } = (await service.call('GET', `/api/sessions/${job.id}/report.json`)).body;
    t.match(failure, { test: 'shop › pays', line: 4 }, name);
  }
});
