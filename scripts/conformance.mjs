// `npm run conformance`: the official MCP conformance suites against the gateway's endpoint with the tools that they ask for, then
// the scenarios that need none against a whole service. Each generation of the protocol has its own suite; that of the newer one is
// an alpha. They want Node 22; they and, where this Node is older, a Node that can run them are installed once from the registry
// into a cache outside of the checkout. Exit code 1 when a required scenario fails.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepare } from './prepare.mjs';
import { cachedPackages } from './support/cached-packages.mjs';

const NODE = '22.23.3';
const DEADLINE_MS = 300_000;

/**
 * `all` runs every scenario of the suite; `shipped` are those that a server with one tool of its own can show: the rest need
 * tools, resources and prompts that the product does not have.
 */
const GENERATIONS = [
  {
    suite: '0.1.16',
    revision: '2025-11-25',
    all: ['--spec-version', '2025-11-25', '--suite', 'all'],
    one: ['--spec-version', '2025-11-25'],
    shipped: ['server-initialize', 'ping', 'tools-list', 'server-sse-multiple-streams', 'dns-rebinding-protection'],
  },
  {
    suite: '0.2.0-alpha.12',
    revision: '2026-07-28',
    // What the revision requires, frozen at its release. Scenarios of extensions are run, too, and do not count.
    all: ['--requirements', '2026-07-28'],
    one: ['--spec-version', '2026-07-28'],
    shipped: ['tools-list', 'server-sse-multiple-streams', 'dns-rebinding-protection', 'http-header-validation'],
  },
];

function install(version) {
  const isNewEnough = Number(process.versions.node.split('.')[0]) >= 22;
  const nodePackage = `node-${process.platform}-${process.arch}`;
  const suite = cachedPackages(`conformance-${version}`, [`@modelcontextprotocol/conformance@${version}`]);
  const node = isNewEnough ? null : cachedPackages(`node-${NODE}`, [`${nodePackage}@${NODE}`]);
  return {
    suite: suite('@modelcontextprotocol', 'conformance', 'dist', 'index.js'),
    node: node === null ? process.execPath : node(nodePackage, 'bin', 'node'),
  };
}

/** Runs scenarios and prints how each ended. True when all that the suite requires passed. */
async function run({ suite, node }, url, ...options) {
  const args = [suite, 'server', '--url', `${url}/mcp`, ...options];
  const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'inherit'], timeout: DEADLINE_MS });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  const [code] = await once(child, 'close');
  const [, summary] = output.split('=== SUMMARY ===');
  const results = summary ?? `${options.at(-1)}: ${/^Passed: .*$/m.exec(output)?.[0] ?? output}`;
  console.log(results.trim());
  return code === 0 && (summary !== undefined || !/[1-9]\d* failed/.test(results));
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

const suites = GENERATIONS.map((generation) => ({ ...generation, tools: install(generation.suite) }));
await prepare({ tests: true });
const { startConformanceServer } = await import('../test/mcp/conformance-server.mjs');
const fixture = await startConformanceServer();
const shipped = await startShipped();
let passed = true;
try {
  for (const { suite, revision, tools, all, one, shipped: scenarios } of suites) {
    console.log(`\n${revision}, suite ${suite}: the gateway's endpoint, with the tools of the suite`);
    passed = (await run(tools, fixture.url, ...all)) && passed;
    console.log(`\n${revision}, suite ${suite}: the whole service, with its one tool`);
    for (const scenario of scenarios) {
      passed = (await run(tools, shipped.url, ...one, '--scenario', scenario)) && passed;
    }
  }
} finally {
  await fixture.close();
  await shipped.close();
}
process.exitCode = passed ? 0 : 1;
