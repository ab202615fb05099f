// What a user does without a service: the same browser with the same flags, and Playwright connected to it.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as playwright } from 'playwright-core';
import { findChromium } from '#troupe/containers/chromium/chromium-binary.js';
import { openChromiumWithPort } from './chromium-with-port.mjs';
import { openSite } from './open-site.mjs';

/** `lifecycle` starts a browser, connects, opens `html` in a page and ends it all. */
export async function aloneWithPlaywright(html) {
  const folder = mkdtempSync(join(tmpdir(), 'ta-'));
  chmodSync(folder, 0o755);
  const site = await openSite(html);
  const chromium = await findChromium({ configured: process.env.TROUPE_CHROMIUM, cacheDir: join(folder, 'cache') });
  return {
    async lifecycle() {
      const opened = await openChromiumWithPort(chromium);
      const browser = await playwright.connectOverCDP(opened.cdpUrl);
      const [page] = browser.contexts()[0].pages();
      await page.goto(site.origin);
      if ((await page.title()) !== 'here') throw new Error('Playwright is on another page');
      await browser.close();
      await opened.close();
    },
    async close() {
      await site.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
