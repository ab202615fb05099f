// What a user does without a service: the same browser with the same flags, and Playwright connected to it.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as playwright } from 'playwright-core';
import { findChromium } from '#troupe/containers/chromium-binary.js';
import { ProcessDriver } from '#troupe/containers/process-driver.js';

/** `lifecycle` starts a browser, connects, opens `html` in a page and ends it all; `origin` is where the page is. */
export async function aloneWithPlaywright(html) {
  const folder = mkdtempSync(join(tmpdir(), 'ta-'));
  chmodSync(folder, 0o755);
  const site = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(html);
  });
  await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${site.address().port}/`;
  const chromium = await findChromium({ configured: process.env.TROUPE_CHROMIUM, cacheDir: join(folder, 'cache') });
  const driver = await ProcessDriver.create({ chromium, workDir: join(folder, 'w'), instance: 'alone' });
  let count = 0;
  return {
    origin,
    async lifecycle() {
      const bounds = { signal: new AbortController().signal, deadlineMs: 30_000 };
      const lease = await driver.lease({ leaseId: `p${count++}`, viewport: { width: 1280, height: 720 } }, bounds);
      const browser = await playwright.connectOverCDP(lease.endpoint.cdpUrl);
      const [page] = browser.contexts()[0].pages();
      await page.goto(origin);
      if ((await page.title()) !== 'here') throw new Error('Playwright is on another page');
      await browser.close();
      await lease.release();
    },
    async close() {
      await driver.sweep(new Set());
      await new Promise((resolve) => site.close(resolve).closeAllConnections());
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
