// How long until the list of a service with 10,000 ended sessions can be read, and does it scroll smoothly? In a real
// browser that keeps nothing from one visit to the next, from the beginning of the navigation to the frame with rows in it.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as playwright } from 'playwright-core';
import { readConfig } from '#troupe/config.js';
import { findChromium } from '#troupe/containers/chromium/chromium-binary.js';
import { Journal } from '#troupe/journal/journal.js';
import { startService } from '#troupe/service.js';
import { acceptedRecord, endedRecord, startedRecord } from '#troupe/supervisor/sessions/session-record.js';
import { openChromiumWithPort } from './support/chromium-with-port.mjs';
import { percentile } from './support/percentiles.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';

const SESSIONS = 10_000;
const SCROLLS = 120;
const BEGUN_AT = Date.now();

export async function run({ rounds = 10 } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'td-'));
  chmodSync(home, 0o755);
  await fill(join(home, 'troupe.db'));
  writeFileSync(join(home, 'troupe.json'), JSON.stringify({ driver: 'process', warmSessions: 0 }));
  const service = await startService(readConfig({ port: '0' }, { ...process.env, TROUPE_HOME: home }), {
    version: 'bench',
    log: () => undefined,
  });
  const chromium = await findChromium({ configured: process.env.TROUPE_CHROMIUM, cacheDir: join(home, 'cache') });
  const reader = await openChromiumWithPort(chromium, { width: 1280, height: 800 });
  try {
    const browser = await playwright.connectOverCDP(reader.cdpUrl);
    const page = browser.contexts()[0].pages()[0];
    const network = await page.context().newCDPSession(page);
    await network.send('Network.setCacheDisabled', { cacheDisabled: true });
    await page.addInitScript(tellFirstRow);
    const painted = [];
    const whole = [];
    for (let round = 0; round <= rounds; round += 1) {
      await page.goto('about:blank');
      await page.goto(`${service.url}/`);
      const times = await page.evaluate(() => window.listTimes);
      // The first visit finds code and database cold.
      if (round === 0) continue;
      painted.push(times.painted);
      whole.push(times.whole);
    }
    const frames = await page.evaluate(scrollThrough, SCROLLS);
    printHeader();
    printSamples('list: first rows painted', painted, 'ms');
    printSamples(`list: all ${SESSIONS} there`, whole, 'ms');
    printSamples('list: a frame while it is scrolled', frames, 'ms');
    await browser.close();
    return [
      atMost('dashboard: first rows painted, p50, ms', percentile(painted, 0.5), 1000),
      atMost('dashboard: a frame while scrolled, p50, ms', percentile(frames, 0.5), 34),
    ];
  } finally {
    await service.stop({ drainMs: 0 });
    await driver.sweep(new Set());
    rmSync(home, { recursive: true, force: true });
  }
}

/** A week of jobs, each twentieth failed. */
async function fill(file) {
  const journal = await Journal.open({ file });
  for (let start = 0; start < SESSIONS; start += 1000) {
    const records = Array.from({ length: 1000 }, (_, offset) => storedJob(start + offset));
    await journal.write({ records });
  }
  await journal.close();
}

function storedJob(number) {
  // A minute apart up to now: what is older than the retention says would be removed while it is looked at.
  const at = (ms) => new Date(BEGUN_AT - (SESSIONS - number) * 60_000 + ms);
  const request = {
    mode: 'auto',
    name: `Nightly ${number}: buy a teapot`,
    prompt: 'Buy two blue teapots and check the order',
    flowFiles: ['shop/login.js', 'shop/buy.js'],
    maxIterations: 0,
    labels: { suite: 'nightly', build: String(Math.floor(number / 40)) },
  };
  const id = number.toString(36).padStart(12, '0');
  const accepted = acceptedRecord(id, request, { maxIterations: 25, model: null, publicUrl: undefined, now: at(0) });
  const started = startedRecord(accepted, 'process', at(500));
  const failed = number % 20 === 0;
  const end = failed
    ? {
        status: 'failed',
        reason: 'finished',
        summary: null,
        error: { code: 'FLOW_FAILED', error: 'shop/buy:25: No visible element matches {^input}Express' },
      }
    : { status: 'completed', reason: 'finished', summary: 'The flows passed', error: null };
  return { record: endedRecord(started, end, at(9000)), lease: null };
}

/** Runs in the page, before it: when the first row was painted, and when all rows were there. */
function tellFirstRow() {
  window.listTimes = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('The rows did not come within 30 s')), 30_000);
    let painted = null;
    const look = () => {
      const rows = document.querySelectorAll('[role=row][aria-selected]').length;
      if (painted === null && rows > 0) painted = performance.now();
      const count = Number(document.querySelector('[role=grid]')?.getAttribute('aria-rowcount'));
      // A frame that has begun is on the screen when the next begins.
      if (painted !== null && count > 10_000) resolve({ painted, whole: performance.now() });
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}

/** Runs in the page: the times from frame to frame while the list goes by. */
async function scrollThrough(scrolls) {
  const list = document.querySelector('[role=grid]');
  const frames = [];
  let last = performance.now();
  for (let scroll = 0; scroll < scrolls; scroll += 1) {
    list.scrollTop = (list.scrollHeight * scroll) / scrolls;
    await new Promise((resolve) => requestAnimationFrame(resolve));
    frames.push(performance.now() - last);
    last = performance.now();
  }
  return frames.slice(1);
}
