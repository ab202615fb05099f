// What does each door cost: a new session and a click through WebDriver beside chromedriver alone, and through a Playwright
// connection beside Playwright alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright';
import { findChromium } from '#troupe/containers/chromium/chromium-binary.js';
import { COMMON_FLAGS } from '#troupe/containers/chromium/chromium-flags.js';
import { openChromiumWithPort } from './support/chromium-with-port.mjs';
import { openSite } from './support/open-site.mjs';
import { percentile } from './support/percentiles.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';
import { startServiceProcess } from './support/service-process.mjs';

const PAGE = '<title>doors</title><button onclick="this.dataset.n = -~this.dataset.n">Go</button>';
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';
const CREATES_A_ROUND = 3;
const CLICKS = 30;

export async function run({ rounds = 5 }) {
  const site = await openSite(PAGE);
  const service = await startServiceProcess({ warmSessions: 2, maxSessions: 4, forward: [site.port] });
  const alone = await startChromedriver();
  const cacheDir = mkdtempSync(join(tmpdir(), 'td-'));
  const found = await findChromium({ configured: process.env.TROUPE_CHROMIUM, cacheDir });
  const { path, env, headlessShell } = found;
  const bare = await openChromiumWithPort(found);
  const args = [headlessShell ? '--headless' : '--headless=new', '--no-sandbox', ...COMMON_FLAGS];
  const launch = { executablePath: path, env: { ...process.env, ...env }, args: COMMON_FLAGS };
  const samples = {};
  const sample = async (name, work) => {
    const startedAt = performance.now();
    const result = await work();
    samples[name] ??= [];
    samples[name].push(performance.now() - startedAt);
    return result;
  };
  // The browser that takes the place of a used one starts now, and would be measured with the clicks.
  const settled = () => service.warm(2);
  /** A session through WebDriver: created, a page opened, clicks, ended. */
  const webDriver = async (name, base, capabilities) => {
    const create = () => call(base, 'POST', '/session', { capabilities: { alwaysMatch: capabilities } });
    const { sessionId } = await sample(`${name}, create`, create);
    await settled();
    const at = `/session/${sessionId}`;
    await call(base, 'POST', `${at}/url`, { url: site.origin });
    const found = await call(base, 'POST', `${at}/element`, { using: 'css selector', value: 'button' });
    const click = () => call(base, 'POST', `${at}/element/${found[ELEMENT]}/click`, {});
    await click();
    for (let i = 0; i < CLICKS; i += 1) await sample(`${name}, click`, click);
    await call(base, 'DELETE', at);
  };
  /** The same through Playwright. */
  const playwright = async (name, open, pageOf) => {
    const browser = await sample(`${name}, create`, async () => {
      const opened = await open();
      return { opened, page: await pageOf(opened) };
    });
    await settled();
    await browser.page.goto(site.origin);
    const click = () => browser.page.click('button');
    await click();
    for (let i = 0; i < CLICKS; i += 1) await sample(`${name}, click`, click);
    await browser.opened.close();
  };
  const turns = [
    async () => {
      await service.warm(2);
      await webDriver('WebDriver', `${service.url}/wd/hub`, {});
    },
    () => webDriver('chromedriver', alone.url, { 'goog:chromeOptions': { binary: path, args } }),
    async () => {
      await service.warm(2);
      const address = `${service.url.replace('http', 'ws')}/playwright`;
      await playwright(
        'connectOverCDP',
        () => chromium.connectOverCDP(address),
        (browser) => browser.contexts()[0].pages()[0],
      );
    },
    // What of the difference is Playwright's own: a connection by port to a Chromium that nothing stands before.
    () =>
      playwright(
        'Playwright by port',
        () => chromium.connectOverCDP(bare.cdpUrl),
        (browser) => browser.contexts()[0].newPage(),
      ),
    () =>
      playwright(
        'Playwright',
        () => chromium.launch(launch),
        (browser) => browser.newPage(),
      ),
  ];
  try {
    for (const turn of turns) await turn();
    for (const name of Object.keys(samples)) delete samples[name];
    for (let round = 0; round < rounds * CREATES_A_ROUND; round += 1) {
      // Each first in every other round: the machine does not stay as it is.
      for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
    }
  } finally {
    await bare.close();
    await alone.stop();
    await service.stop();
    await site.close();
    rmSync(cacheDir, { recursive: true, force: true });
  }
  printHeader();
  for (const [name, values] of Object.entries(samples).sort()) printSamples(name, values, 'ms');
  const ratio = (one, other, what) => {
    const of = (name) => percentile(samples[`${name}, ${what}`], 0.5);
    return of(one) / of(other);
  };
  return [
    atMost(
      'doors: WebDriver, create from a warm pool, times chromedriver',
      ratio('WebDriver', 'chromedriver', 'create'),
      1,
    ),
    atMost('doors: WebDriver, click, times chromedriver', ratio('WebDriver', 'chromedriver', 'click'), 1.3),
    atMost('doors: connectOverCDP, create, times Playwright', ratio('connectOverCDP', 'Playwright', 'create'), 1.3),
    atMost('doors: connectOverCDP, click, times Playwright', ratio('connectOverCDP', 'Playwright', 'click'), 1.3),
  ];
}

async function call(base, method, path, body) {
  const response = await fetch(base + path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const { value } = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(value).slice(0, 500)}`);
  return value;
}

/** A chromedriver of this benchmark's own. Give it back with `stop`. */
async function startChromedriver() {
  const child = spawn('chromedriver', ['--port=0'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const gone = once(child, 'exit');
  const port = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, number] = /started successfully on port (\d+)/.exec(line) ?? [];
      if (number !== undefined) resolve(number);
    });
    gone.then(() => reject(new Error('chromedriver ended before it listened')), reject);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill();
      await gone;
    },
  };
}
