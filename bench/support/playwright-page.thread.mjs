// The thread's side of playwright-thread.mjs.
import { parentPort, workerData } from 'node:worker_threads';
import { chromium as playwright } from 'playwright-core';

const browser = await playwright.connectOverCDP(workerData.cdpUrl);
const [context] = browser.contexts();
const page = context.pages()[0] ?? (await context.newPage());

parentPort.on('message', async ({ source, args }) => {
  if (source === undefined) {
    // Closed in its own words, it also removes the folder that it has in the temporary directory.
    await browser.close();
    parentPort.close();
    return;
  }
  try {
    const work = new Function(`return (${source})`)();
    const startedAt = performance.now();
    const value = await work(page, ...args);
    parentPort.postMessage({ value, ms: performance.now() - startedAt });
  } catch (error) {
    parentPort.postMessage({ error: String(error?.stack ?? error) });
  }
});
parentPort.postMessage('ready');
