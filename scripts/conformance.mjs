// `npm run conformance`: the official MCP conformance suite against the gateway's endpoint with the tools that the suite asks
// for, then the scenarios that need none against a whole service. The suite wants Node 22; it and, where this Node is older, a
// Node that can run it are installed once from the registry into a cache outside of the checkout. Exit code 1 when a scenario
// fails.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepare } from './prepare.mjs';
import { cachedPackages } from './support/cached-packages.mjs';

const SUITE = '0.1.16';
const NODE = '22.23.3';
const REVISION = '2025-11-25';
const DEADLINE_MS = 300_000;

/** What one tool of its own name cannot show; the rest needs tools, resources and prompts that the product does not have. */
const SHIPPED = ['server-initialize', 'ping', 'tools-list', 'server-sse-multiple-streams', 'dns-rebinding-protection'];

function install() {
  const isNewEnough = Number(process.versions.node.split('.')[0]) >= 22;
  const nodePackage = `node-${process.platform}-${process.arch}`;
  const suitePackage = `@modelcontextprotocol/conformance@${SUITE}`;
  const packages = isNewEnough ? [suitePackage] : [suitePackage, `${nodePackage}@${NODE}`];
  const path = cachedPackages(`conformance-${SUITE}${isNewEnough ? '' : `-node-${NODE}`}`, packages);
  return {
    suite: path('@modelcontextprotocol', 'conformance', 'dist', 'index.js'),
    node: isNewEnough ? process.execPath : path(nodePackage, 'bin', 'node'),
  };
}

/** Runs scenarios and prints how each ended. True when all that the suite checked passed. */
async function run({ suite, node }, url, ...options) {
  const args = [suite, 'server', '--url', `${url}/mcp`, '--spec-version', REVISION, ...options];
  const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'inherit'], timeout: DEADLINE_MS });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  const [code] = await once(child, 'close');
  const [, summary] = output.split('=== SUMMARY ===');
  const results = summary ?? `${options.at(-1)}: ${/^Passed: .*$/m.exec(output)?.[0] ?? output}`;
  console.log(results.trim());
  return code === 0 && !/[1-9]\d* failed/.test(results);
}

async function startShipped() {
  const { readConfig } = await import('../dist/config.js');
  const { startService } = await import('../dist/service.js');
  const home = mkdtempSync(join(tmpdir(), 'troupe-conformance-'));
  const config = readConfig({ port: '0', driver: 'process' }, { ...process.env, TROUPE_HOME: home });
  const service = await startService(config, { version: '0.0.0-conformance', log: () => undefined });
  const close = async () => {
    await service.stop({ drainMs: 0 });
    rmSync(home, { recursive: true, force: true });
  };
  return { url: service.url, close };
}

const tools = install();
await prepare({ tests: true });
const { startConformanceServer } = await import('../test/mcp/conformance-server.mjs');
const fixture = await startConformanceServer();
console.log(`\nthe gateway's endpoint, with the tools of the suite (${REVISION}):`);
let passed = await run(tools, fixture.url, '--suite', 'all').finally(() => fixture.close());
const shipped = await startShipped();
console.log('\nthe whole service, with its one tool:');
try {
  for (const scenario of SHIPPED) passed = (await run(tools, shipped.url, '--scenario', scenario)) && passed;
} finally {
  await shipped.close();
}
process.exitCode = passed ? 0 : 1;
