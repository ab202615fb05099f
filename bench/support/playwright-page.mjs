// A page that Playwright drives: as a person would, for what is measured is the page.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as playwright } from 'playwright-core';
import { findChromium } from '#troupe/containers/chromium/chromium-binary.js';
import { openChromiumWithPort } from './chromium-with-port.mjs';

export async function openPlaywrightPage() {
  const folder = mkdtempSync(join(tmpdir(), 'tp-'));
  chmodSync(folder, 0o755);
  const chromium = await findChromium({ configured: process.env.TROUPE_CHROMIUM, cacheDir: join(folder, 'cache') });
  const opened = await openChromiumWithPort(chromium, { width: 1400, height: 860 });
  const browser = await playwright.connectOverCDP(opened.cdpUrl);
  const [page] = browser.contexts()[0].pages();
  return {
    page,
    async close() {
      await browser.close();
      await opened.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
