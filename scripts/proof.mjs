// `npm run proof -- NAME`: the whole of a test whose seeded sample is part of `npm test`. Runs one file after the other and
// remembers those that passed on this state of the code, so that a run that was interrupted goes on where it stopped.
// `--fresh` forgets them. Exit code 1 when a file failed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { prepare } from './prepare.mjs';
import { TapReader } from './support/tap-reader.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const inService = (name) => `test/service/${name}.test.ts`;

/**
 * What each proof runs, in this order: a test file, or every test of a folder, in an environment. `x.proof.ts` is part of a
 * proof alone: even one of its cases is too long for `npm test`.
 */
const PROOFS = {
  attack: [
    { path: 'test/attack', env: {} },
    { path: 'test/script/escapes.test.ts', env: {} },
    { path: 'test/attack', env: { TROUPE_TEST_DRIVER: 'docker' } },
  ],
  cluster: [
    { path: 'test/cluster/postgres.test.ts', env: {} },
    // 10,000 schedules each.
    ...Array.from({ length: 10 }, (_, round) => ({
      path: 'test/cluster/simulation.test.ts',
      env: { TROUPE_ROUND: `${round + 1}` },
    })),
  ],
  'create-playwright': [{ path: 'test/playwright/create-playwright.proof.ts', env: {} }],
  doors: ['connections', 'selenium-suite', 'w3c-commands'].flatMap((name) =>
    [{}, { TROUPE_TEST_DRIVER: 'docker' }].map((env) => ({ path: `test/webdriver/${name}.test.ts`, env })),
  ),
  curl: [{ path: 'test/request-client/curl-import/continuations.test.ts', env: {} }],
  long: [
    'agent-js/look-corpus',
    'autonomy/healing',
    'examples/flows',
    'service/batches',
    'service/churn',
    'service/login-states',
  ].map((name) => ({
    path: `test/${name}.test.ts`,
    env: {},
  })),
  // The same service behind its other HTTP server.
  swarm: ['swarm', 'kubernetes'].map((name) => ({ path: `test/swarm/${name}.proof.ts`, env: {} })),
  server: [
    ...[
      'test/gateway',
      'test/gateway/live-stream',
      'test/gateway/mcp',
      'test/gateway/tunnel',
      'test/contract',
      'test/mcp',
    ],
    ...['hosts', 'roles', 'tokens'].map((name) => `test/attack/${name}.test.ts`),
    ...['control', 'devtools', 'devtools-clients', 'gone-clients', 'hostile', 'live-input', 'live-session'].map(
      inService,
    ),
    ...['restart', 'routes', 'start', 'telemetry', 'webhooks'].map(inService),
    'test/dashboard/dashboard.test.ts',
  ].map((path) => ({ path, env: { TROUPE_TEST_SERVER: 'node' } })),
  faults: [{ path: 'test/faults', env: {} }],
  libraries: [
    { path: 'test/agent-js/verified.test.ts', env: {} },
    ...[
      // Ten rounds in one setting, and one in each of the others. Each is a step, so that none is run twice.
      ...Array.from({ length: 10 }, (_, round) => ({ TROUPE_SETTING: '0', TROUPE_ROUND: `${round + 1}` })),
      ...['1', '2', '3', '4'].map((setting) => ({ TROUPE_SETTING: setting })),
      { TROUPE_TEST_DRIVER: 'docker' },
    ].map((env) => ({ path: 'test/agent-js/libraries.test.ts', env })),
  ],
  // A thousand tries with each driver, in parts, so that little is lost if a run is interrupted.
  late: [{}, { TROUPE_TEST_DRIVER: 'docker' }].flatMap((driver) =>
    Array.from({ length: 10 }, (_, part) => ({
      path: 'test/agent-js/expect-late.test.ts',
      env: { ...driver, TROUPE_PART: `${part + 1}/10` },
    })),
  ),
  suite: [{ path: 'test/examples/suite.test.ts', env: {} }],
  numbers: [{ path: 'test/agent-js/random-numbers.test.ts', env: {} }],
  playwright: [
    { path: 'test/playwright', env: {} },
    { path: 'test/playwright', env: { TROUPE_TEST_DRIVER: 'docker' } },
    { path: 'test/playwright-test', env: {} },
    { path: 'test/playwright-test/example.test.ts', env: { TROUPE_TEST_DRIVER: 'docker' } },
  ],
  mcp: [
    { path: 'test/mcp/crowd-kills.proof.ts', env: {} },
    { path: 'test/mcp/interop', env: {} },
  ],
  recorder: [{ path: 'test/agent-js/recorder.test.ts', env: {} }],
  tasks: [{ path: 'test/agent-js/tasks.test.ts', env: {} }],
  pictures: [
    ...['agent-js/step-pictures', 'service/step-pictures', 'agent-js/expect-screenshot'].map((name) => ({
      path: `test/${name}.test.ts`,
      env: {},
    })),
    ...[
      ...['every processor', 'one processor', 'load', 'container, 1 processor', 'container, 2 processors'],
      ...['another image, 1 processor', 'another image, 2 processors'],
    ].map((setting) => ({ path: 'test/agent-js/pictures.proof.ts', env: { TROUPE_SETTING: setting } })),
  ],
};

const [proofName, ...flags] = process.argv.slice(2);
const proof = PROOFS[proofName];
if (proof === undefined) {
  console.error(`Usage: npm run proof -- NAME [--fresh], where NAME is one of: ${Object.keys(PROOFS).join(', ')}`);
  process.exit(2);
}

await prepare({ tests: true });
const memory = join(root, 'node_modules/.cache/troupe', `proof-${proofName}.json`);
const code = stateOfCode();
const passed = flags.includes('--fresh') ? [] : readPassed();
let failures = 0;
for (const { path, env } of proof) {
  const setting = Object.entries(env)
    .map(([key, value]) => `${key}=${value} `)
    .join('');
  for (const file of testsOf(path)) {
    const step = setting + file;
    if (passed.includes(step)) {
      console.log(`passed before  ${step}`);
      continue;
    }
    const startedAt = Date.now();
    const ok = await run(file, { ...env, TROUPE_PROOF: proofName });
    console.log(`${ok ? 'passed' : 'FAILED'} in ${Math.round((Date.now() - startedAt) / 1000)} s  ${step}`);
    if (!ok) failures += 1;
    else remember(step);
  }
}
console.log(failures === 0 ? `The proof ${proofName} holds.` : `${failures} files of the proof ${proofName} failed.`);
process.exit(failures === 0 ? 0 : 1);

function testsOf(path) {
  if (path.endsWith('.ts')) return [path];
  const names = readdirSync(join(root, path)).filter((name) => /\.(test|proof)\.ts$/.test(name));
  return names.sort().map((name) => `${path}/${name}`);
}

async function run(file, env) {
  const child = spawn(
    process.execPath,
    ['node_modules/tap/dist/esm/run.mjs', '--reporter=tap', '--timeout=3600', file],
    {
      cwd: root,
      stdio: ['inherit', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    },
  );
  const reader = new TapReader((line) => console.log(line));
  createInterface({ input: child.stdout }).on('line', (line) => reader.read(line));
  const [exitCode] = await once(child, 'close');
  return exitCode === 0;
}

/** The commit, and whatever differs from it. */
function stateOfCode() {
  const git = (...words) => spawnSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 }).stdout;
  return createHash('sha256')
    .update(git('rev-parse', 'HEAD') + git('diff', 'HEAD'))
    .digest('hex');
}

function readPassed() {
  try {
    const known = JSON.parse(readFileSync(memory, 'utf8'));
    return known.code === code ? known.passed : [];
  } catch {
    return [];
  }
}

function remember(step) {
  passed.push(step);
  mkdirSync(dirname(memory), { recursive: true });
  writeFileSync(memory, JSON.stringify({ code, passed }));
}
