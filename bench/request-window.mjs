// Open a collection of 2,000 requests in the window of the request client: how soon is it on screen, and does the window
// stay fluid? The client and its page are the real ones; Playwright only presses keys and reads what is shown.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WindowServer } from '#request-client/window/window-server.js';
import { Workspace } from '#request-client/window/workspace.js';
import { percentiles } from './support/percentiles.mjs';
import { openPlaywrightPage } from './support/playwright-page.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';

const REQUESTS = 2000;
const FOLDERS = 20;

export async function run({ rounds = 15 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'));
  const file = join(folder, 'big.json');
  writeFileSync(file, JSON.stringify(collection(), null, '\t'));
  const workspace = new Workspace({ openBrowser: async () => undefined });
  await workspace.open(file);
  const server = await WindowServer.start({ workspace, folder, port: 0 });
  const { page, close } = await openPlaywrightPage();
  const samples = { open: [], search: [], frame: [], edit: [] };
  try {
    for (let round = 0; round < rounds; round += 1) {
      await page.goto('about:blank');
      let startedAt = performance.now();
      await workspace.open(file);
      await page.goto(server.url);
      await page.getByText(`Folder ${FOLDERS - 1}`).waitFor();
      samples.open.push(performance.now() - startedAt);
      startedAt = performance.now();
      await page.fill('#search', `request ${REQUESTS - 1 - round}`);
      await page.getByText(`Request ${REQUESTS - 1 - round}`, { exact: true }).waitFor();
      samples.search.push(performance.now() - startedAt);
      await page.getByText(`Request ${REQUESTS - 1 - round}`, { exact: true }).click();
      startedAt = performance.now();
      await page.fill('.url', 'https://api.example.com/edited');
      await page.keyboard.press('Control+s');
      await page.getByText('Saved').waitFor();
      samples.edit.push(performance.now() - startedAt);
      await page.fill('#search', 'request');
      samples.frame.push(...(await page.evaluate(scroll)));
    }
  } finally {
    await close();
    await server.close();
    await workspace.close();
    rmSync(folder, { recursive: true, force: true });
  }
  printHeader();
  printSamples('load the page, all on screen', samples.open, 'ms');
  printSamples('find one by typing', samples.search, 'ms');
  printSamples('edit and save', samples.edit, 'ms');
  printSamples('a frame while scrolling', samples.frame, 'ms');
  return [
    atMost('request-window: s until 2,000 requests are on screen, p95', percentiles(samples.open).p95 / 1000, 1),
    atMost('request-window: ms of a frame while scrolling, p95', percentiles(samples.frame).p95, 34),
  ];
}

/** In the page: the time between frames while the tree is scrolled from top to bottom. */
async function scroll() {
  const list = document.querySelector('[role=tree]');
  const times = [];
  let last = performance.now();
  for (let top = 0; top < list.scrollHeight; top += list.scrollHeight / 60) {
    list.scrollTop = top;
    await new Promise((done) => requestAnimationFrame(done));
    times.push(performance.now() - last);
    last = performance.now();
  }
  return times;
}

function collection() {
  const requestOf = (index) => ({
    name: `Request ${index}`,
    event: [{ listen: 'test', script: { exec: ["pm.test('ok', () => pm.response.to.have.status(200));"] } }],
    request: {
      method: ['GET', 'POST', 'PUT', 'DELETE'][index % 4],
      header: [{ key: 'Authorization', value: 'Bearer {{token}}' }],
      body: { mode: 'raw', raw: JSON.stringify({ name: 'x'.repeat(300) }) },
      url: { raw: `https://api.example.com/v1/things/${index}?a=1`, query: [{ key: 'a', value: '1' }] },
    },
    response: [],
  });
  const each = REQUESTS / FOLDERS;
  return {
    info: { name: 'Big', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
    item: Array.from({ length: FOLDERS }, (_, at) => ({
      name: `Folder ${at}`,
      item: Array.from({ length: each }, (_item, index) => requestOf(at * each + index)),
    })),
  };
}
