// A page of a browser of ours that Playwright drives: as a person would, for what is measured is the page.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as playwright } from 'playwright-core';
import { findChromium } from '#troupe/containers/chromium-binary.js';
import { ProcessDriver } from '#troupe/containers/process-driver.js';

export async function openPlaywrightPage() {
  const folder = mkdtempSync(join(tmpdir(), 'tp-'));
  chmodSync(folder, 0o755);
  const chromium = await findChromium({ configured: process.env.TROUPE_CHROMIUM, cacheDir: join(folder, 'cache') });
  const driver = await ProcessDriver.create({ chromium, workDir: join(folder, 'w'), instance: 'page' });
  const bounds = { signal: new AbortController().signal, deadlineMs: 30_000 };
  const lease = await driver.lease({ leaseId: 'page', viewport: { width: 1400, height: 860 } }, bounds);
  const browser = await playwright.connectOverCDP(lease.endpoint.cdpUrl);
  const [page] = browser.contexts()[0].pages();
  return {
    page,
    async close() {
      await browser.close();
      await lease.release();
      await driver.sweep(new Set());
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
