// Everything about the code that can be said without running it: `npm run check`. A line for each check, and the output of
// those that fail; exit code 1 when one does. What is worth a look and no fault is printed as a warning.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownChecks, ownWarnings } from './check/own-checks.mjs';
import { openRepository } from './check/repository.mjs';
import { prepare } from './prepare.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const FOLDERS = ['src', 'request-client', 'web'].filter((folder) => existsSync(`${root}/${folder}`));
/** Of one tool. A busy machine takes several times as long as a quiet one. */
const DEADLINE_MS = 900_000;

/** The compiler remembers what it found: a second run looks only at what has changed. */
function typesOf(config) {
  const memory = `node_modules/.cache/troupe/${config}.tsbuildinfo`;
  return ['typescript/bin/tsc', '-p', config, '--incremental', '--tsBuildInfoFile', memory];
}

/** The longest first, so that nothing long is left alone at the end. */
const TOOLS = {
  types: typesOf('tsconfig.json'),
  'types of pages': ['svelte-check/bin/svelte-check', '--tsconfig', 'web/tsconfig.json', '--threshold', 'warning'],
  'unused code': ['knip/bin/knip.js', '--no-progress'],
  'import floors': ['dependency-cruiser/bin/dependency-cruise.mjs', '--config', '.dependency-cruiser.cjs', ...FOLDERS],
  'types of page code': typesOf('tsconfig.page.json'),
  'format and lint': ['@biomejs/biome/bin/biome', 'ci', '--colors=off'],
};

const checks = [
  ...Object.entries(TOOLS).map(([name, [tool, ...args]]) => ({ name, run: () => runTool(tool, args) })),
  ...Object.entries(ownChecks).map(([name, check]) => ({
    name,
    run: async () => check(openRepository(root)).join('\n'),
  })),
];

/** What the tool said, or '' where it found nothing. */
async function runTool(tool, args) {
  const child = spawn(process.execPath, [`node_modules/${tool}`, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: DEADLINE_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (...end) => resolve(end));
  });
  return code === 0 ? '' : output.trim() || `${tool} ended with ${signal ?? `exit code ${code}`}`;
}

async function runCheck({ name, run }) {
  const startedAt = performance.now();
  const faults = await run().catch((error) => String(error));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${faults === '' ? 'ok    ' : 'FAILED'} ${name}, ${seconds} s`);
  if (faults !== '') console.log(faults.replace(/^/gm, '       '));
  return faults === '';
}

// After a pull the packages may not be those that the code now names.
await prepare({ tests: true });
const waiting = [...checks];
let failed = 0;
async function work() {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    if (!(await runCheck(check))) failed += 1;
  }
}
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));
for (const [name, find] of Object.entries(ownWarnings)) {
  for (const found of find(openRepository(root))) console.log(`warning, ${name}: ${found}`);
}
if (failed > 0) console.log(`\n${failed} of ${checks.length} checks failed`);
process.exitCode = failed > 0 ? 1 : 0;
