// How long does an agent wait from starting the command until the answer to `initialize`, over standard input and output? Beside it
// Microsoft's @playwright/mcp by the node that runs it and, as its manual has it, by npx; and agent-browser's `mcp`, if it has that. And
// what the list of tools and the instructions cost in tokens. Peers are installed on demand into the user's cache.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { cachedPackages } from '../scripts/support/cached-packages.mjs';
import { AGENT_BROWSER } from './support/agent-browser.mjs';
import { percentile } from './support/percentiles.mjs';
import { PLAYWRIGHT_MCP } from './support/playwright-mcp.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';

const ANSWER_MS = 30_000;
const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
};
const vocabulary = new Tiktoken(o200k);
const tokens = (value) => (value === undefined ? 0 : vocabulary.encode(JSON.stringify(value)).length);

export async function run({ rounds = 20 } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    const playwright = cachedPackages(`playwright-mcp-${PLAYWRIGHT_MCP}`, [`@playwright/mcp@${PLAYWRIGHT_MCP}`]);
    const agentBrowser = cachedPackages(`agent-browser-${AGENT_BROWSER}`, [`agent-browser@${AGENT_BROWSER}`]);
    const node = process.execPath;
    const servers = {
      'troupe mcp': [node, 'dist/cli.js', 'mcp'],
      [`@playwright/mcp ${PLAYWRIGHT_MCP}`]: [node, playwright('@playwright', 'mcp', 'cli.js')],
      'npx @playwright/mcp': ['npx', '--no-install', '--prefix', playwright('..'), 'playwright-mcp'],
      [`agent-browser ${AGENT_BROWSER} mcp`]: [node, agentBrowser('agent-browser', 'bin', 'agent-browser.js'), 'mcp'],
    };
    const taken = {};
    for (let round = -1; round < rounds; round += 1) {
      for (const [name, command] of Object.entries(servers)) {
        if (taken[name] === null) continue;
        const started = await start(command, home).catch(() => null);
        if (started === null) taken[name] = null;
        else if (round < 0) taken[name] = { ...started, samples: [] };
        else taken[name].samples.push(started.ms);
      }
    }
    printHeader();
    for (const [name, found] of Object.entries(taken)) {
      if (found === null) console.log(`  ${name}: it does not answer initialize`);
      else {
        printSamples(name, found.samples, 'ms');
        console.log(`    tokens: tools ${tokens(found.tools)}, instructions ${tokens(found.instructions)}`);
      }
    }
    const ours = taken['troupe mcp'].samples;
    return [
      atMost('mcp-start: p50 until the answer to initialize, in ms', percentile(ours, 0.5), 300),
      atMost('mcp-start: p95 until the answer to initialize, in ms', percentile(ours, 0.95), 600),
    ];
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Starts a server, initializes it and lists its tools; the time is that until the first answer. */
async function start([command, ...args], home) {
  const startedAt = performance.now();
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, HOME: home, XDG_DATA_HOME: home, TROUPE_HOME: home },
  });
  const closed = once(child, 'close');
  const timer = setTimeout(() => child.kill('SIGKILL'), ANSWER_MS);
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (id, method, params) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    for (;;) {
      const { done, value } = await answers.next();
      if (done) throw new Error(`${command} ended`);
      const message = JSON.parse(value);
      if (message.id === id) return message.result;
    }
  };
  child.stdin.on('error', () => undefined);
  try {
    const { instructions } = await ask(1, 'initialize', INITIALIZE);
    const ms = performance.now() - startedAt;
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
    const { tools } = await ask(2, 'tools/list', {});
    return { ms, instructions, tools };
  } finally {
    clearTimeout(timer);
    child.stdin.end();
    const killer = setTimeout(() => child.kill('SIGKILL'), 2_000);
    await closed;
    clearTimeout(killer);
  }
}
