// What does an agent pay over MCP: in tokens for the list of tools and for a look at a page, in time for a call and for a
// look? Beside it Microsoft's @playwright/mcp over its own Streamable HTTP, on a page and a browser of the same kind. It
// is installed on demand into the user's cache.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { readConfig } from '#troupe/config.js';
import { findChromium } from '#troupe/containers/chromium/chromium-binary.js';
import { startService } from '#troupe/service.js';
import { startShop } from '../examples/shop/shop.mjs';
import { openChromiumWithPort } from './support/chromium-with-port.mjs';
import { percentile } from './support/percentiles.mjs';
import { PLAYWRIGHT_MCP, startPlaywrightMcp } from './support/playwright-mcp.mjs';
import { atLeast, printHeader, printSamples } from './support/print.mjs';

const CALLS = 20;
const WARM_UP = 3;
const vocabulary = new Tiktoken(o200k);
const tokens = (text) => vocabulary.encode(text).length;

export async function run({ rounds = 5 } = {}) {
  const closers = [];
  try {
    const home = mkdtempSync(join(tmpdir(), 'bench-'));
    chmodSync(home, 0o755);
    closers.push(() => rmSync(home, { recursive: true, force: true }));
    const shop = await startShop({ port: 0 });
    closers.push(() => shop.close());
    const ours = await connect(closers, await startOurs(home, closers));
    const theirs = await connect(closers, await startTheirs(home, closers));
    const look = () => evaluate(ours, 'agent.look({full: true})');
    const snapshot = () => call(theirs, 'browser_snapshot', {});
    await evaluate(ours, `agent.go(${JSON.stringify(shop.url)})`);
    await call(theirs, 'browser_navigate', { url: shop.url });
    const counted = {
      tools: { ours: await toolTokens(ours), theirs: await toolTokens(theirs) },
      page: { ours: tokens(textOf(await look())), theirs: tokens(textOf(await snapshot())) },
    };

    const samples = { add: [], look: [], snapshot: [] };
    for (let round = 0; round < rounds; round += 1) {
      await measure(samples.add, () => evaluate(ours, '1+1'));
      await measure(samples.look, look);
      await measure(samples.snapshot, snapshot);
    }
    printHeader();
    printSamples('agent_eval 1+1', samples.add, 'ms');
    printSamples('agent_eval, a whole look', samples.look, 'ms');
    printSamples(`browser_snapshot (@playwright/mcp ${PLAYWRIGHT_MCP})`, samples.snapshot, 'ms');
    console.log(`  tokens of the list of tools: ${counted.tools.ours}, theirs ${counted.tools.theirs}`);
    console.log(`  tokens of the page: ${counted.page.ours}, theirs ${counted.page.theirs}`);
    const median = (list) => percentile(list, 0.5);
    return [
      atLeast('mcp: tokens of their list of tools, times ours', counted.tools.theirs / counted.tools.ours, 10),
      atLeast('mcp: tokens of their page, times ours', counted.page.theirs / counted.page.ours, 1.5),
      atLeast('mcp: their time for a page, times ours', median(samples.snapshot) / median(samples.look), 1),
    ];
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function startOurs(home, closers) {
  const config = readConfig({ port: '0', driver: 'process' }, { ...process.env, TROUPE_HOME: home });
  const service = await startService(config, { version: 'bench', log: () => undefined });
  closers.push(() => service.stop({ drainMs: 0 }));
  return service.url;
}

/** Its server, at a browser of the same binary and flags as ours. */
async function startTheirs(home, closers) {
  const chromium = await findChromium({ configured: process.env.TROUPE_CHROMIUM, cacheDir: join(home, 'cache') });
  const { cdpUrl, close } = await openChromiumWithPort(chromium);
  closers.push(close);
  return await startPlaywrightMcp(cdpUrl, home, closers);
}

async function connect(closers, url) {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url));
  await client.connect(transport);
  closers.push(async () => {
    await transport.terminateSession().catch(() => undefined);
    await client.close();
  });
  return client;
}

async function call(client, name, given) {
  const result = await client.callTool({ name, arguments: given });
  if (result.isError) throw new Error(`${name} failed: ${textOf(result)}`);
  return result;
}

function evaluate(client, js) {
  return call(client, 'agent_eval', { js });
}

function textOf({ content }) {
  return content.map((part) => part.text ?? '').join('\n');
}

async function toolTokens(client) {
  const { tools } = await client.listTools();
  return tokens(JSON.stringify(tools));
}

/** Adds the milliseconds of so many calls, after some that are not counted. */
async function measure(samples, work) {
  for (let n = -WARM_UP; n < CALLS; n += 1) {
    const startedAt = performance.now();
    await work();
    if (n >= 0) samples.push(performance.now() - startedAt);
  }
}
