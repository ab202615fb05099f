// What a user does without a service: the same browser with the same flags, and Playwright connected to it.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as playwright } from 'playwright-core';
import { findChromium } from '#troupe/containers/chromium-binary.js';
import { ProcessDriver } from '#troupe/containers/process-driver.js';
import { openSite } from './open-site.mjs';

/** `lifecycle` starts a browser, connects, opens `html` in a page and ends it all. */
export async function aloneWithPlaywright(html) {
  const folder = mkdtempSync(join(tmpdir(), 'ta-'));
  chmodSync(folder, 0o755);
  const site = await openSite(html);
  const chromium = await findChromium({ configured: process.env.TROUPE_CHROMIUM, cacheDir: join(folder, 'cache') });
  const driver = await ProcessDriver.create({ chromium, workDir: join(folder, 'w'), instance: 'alone' });
  let count = 0;
  return {
    async lifecycle() {
      const bounds = { signal: new AbortController().signal, deadlineMs: 30_000 };
      const lease = await driver.lease({ leaseId: `p${count++}`, viewport: { width: 1280, height: 720 } }, bounds);
      const browser = await playwright.connectOverCDP(lease.endpoint.cdpUrl);
      const [page] = browser.contexts()[0].pages();
      await page.goto(site.origin);
      if ((await page.title()) !== 'here') throw new Error('Playwright is on another page');
      await browser.close();
      await lease.release();
    },
    async close() {
      await driver.sweep(new Set());
      await site.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
