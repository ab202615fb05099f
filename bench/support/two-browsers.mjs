// One page, twice: a browser of the process driver that scripts drive as users' scripts do, and another of the same binary
// and flags that playwright-core drives. Two browsers, because two clients of one would each pay for the other.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from '#troupe/agent-js/agent.js';
import { flowModule } from '#troupe/agent-js/flows/flow.js';
import { findChromium } from '#troupe/containers/chromium/chromium-binary.js';
import { ProcessDriver } from '#troupe/containers/process/process-driver.js';
import { Sandbox } from '#troupe/script/sandbox.js';
import { Browser } from '#troupe/session/browser.js';
import { DevToolsChannel } from '#troupe/session/connection/devtools-channel.js';
import { openChromiumWithPort } from './chromium-with-port.mjs';
import { openGate } from './open-gate.mjs';
import { PlaywrightThread } from './playwright-thread.mjs';

const VIEWPORT = { width: 1280, height: 720 };

/**
 * `run(source)` runs a script in the sandbox and answers its value; `agent` is what it works with; `playwright` drives the page of the other browser.
 * `flowsDir` is where `Flow.run` looks. `scripted(name)` opens one more browser that scripts drive, `lease()` one with a
 * DevTools port for others; `closers` is where they put what ends them, and `folder` is theirs to write in. `close` gives everything back.
 *
 * @param pages path -> HTML, or a function `(request, response)`
 */
export async function openTwoBrowsers(pages) {
  return opened(pages, async ({ ours, lease, closers, folder }) => {
    const playwright = await PlaywrightThread.open((await lease()).cdpUrl);
    closers.push(() => playwright.close());
    return {
      ...(await ours('ours', 'idle')),
      playwright,
      scripted: (leaseId) => ours(leaseId, 'idle'),
      lease,
      closers,
      folder,
    };
  });
}

/**
 * Browsers that scripts drive, one for each setting of `screenshots` as jobs have it: `off` and `on`; and
 * `playwright`, as in {@link openTwoBrowsers}.
 */
export async function openPicturedBrowsers() {
  return opened({}, async ({ ours, lease, closers, folder }) => {
    const playwright = await PlaywrightThread.open((await lease()).cdpUrl);
    closers.push(() => playwright.close());
    return {
      off: await ours('off', 'off'),
      on: await ours('on', 'on'),
      playwright,
      folder,
    };
  });
}

async function opened(pages, open) {
  const closers = [];
  const close = async () => {
    for (const closer of closers.reverse().splice(0)) await closer();
  };
  try {
    const folder = mkdtempSync(join(tmpdir(), 'bench-'));
    chmodSync(folder, 0o755);
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const origin = await serve(pages, closers);
    const flowsDir = join(folder, 'flows');
    mkdirSync(flowsDir);
    const chromium = await findChromium({ configured: process.env.TROUPE_CHROMIUM, cacheDir: join(folder, 'cache') });
    const driver = await ProcessDriver.create({
      chromium,
      network: openGate(),
      ownPort: 0,
      home: flowsDir,
      workDir: join(folder, 'w'),
      instance: 'bench',
    });
    closers.push(() => driver.sweep(new Set()));
    const lease = async () => {
      const opened = await openChromiumWithPort(chromium, VIEWPORT);
      closers.push(opened.close);
      return opened;
    };
    const ours = async (leaseId, stepScreenshots) => {
      const leased = await driver.lease({ leaseId, viewport: VIEWPORT }, bounds());
      closers.push(() => leased.release());
      const channel = await DevToolsChannel.open(leased.devTools(), bounds());
      closers.push(() => channel.close());
      const browser = await Browser.connect(leased.endpoint, channel, {}, bounds());
      closers.push(() => browser.close());
      const events = [];
      const screenshotsDir = join(folder, leaseId);
      const agent = new Agent({ browser, emit: (event) => events.push(event), screenshotsDir, stepScreenshots });
      closers.push(() => agent.dispose());
      const sandbox = await Sandbox.start({ modules: [agent.module, flowModule({ flowsDir })], emit: () => undefined });
      closers.push(() => sandbox.close());
      const run = async (source, timeoutMs = 60_000) =>
        JSON.parse(await sandbox.run({ source, name: 'bench', kind: 'script', timeoutMs }));
      return { agent, run, events };
    };
    return { origin, flowsDir, close, ...(await open({ ours, lease, closers, folder })) };
  } catch (error) {
    await close();
    throw error;
  }
}

async function serve(pages, closers) {
  const server = createServer((request, response) => {
    const page = pages[new URL(request.url, 'http://localhost').pathname];
    if (typeof page === 'function') return page(request, response);
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(page);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  return `http://127.0.0.1:${server.address().port}`;
}

function bounds() {
  return { signal: new AbortController().signal, deadlineMs: 30_000 };
}
