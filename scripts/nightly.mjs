// `npm run nightly [-- JOB...]`: everything that the gate and the smoke tests leave out, as the named jobs of test/suites.json. Each
// job has a verdict of its own and hides none of the others; a table of them comes last. Steps that passed on this state
// of the code are not run again, so a run that was interrupted goes on where it stopped; `--fresh` forgets them.
// `--steps N` runs at most N more steps of each job, `--list` prints the jobs. Exit code 1 when a job failed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { prepare } from './prepare.mjs';
import { measureFactor } from './support/deadline-factor.mjs';
import { runSuite } from './support/run-suite.mjs';
import { jobsOf, MANIFEST, nameOf } from './support/suites.mjs';

/** The longest that a file may take. */
const LIMIT_S = 3600;
const MEMORY = 'node_modules/.cache/troupe/nightly.json';

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));
const allJobs = jobsOf(JSON.parse(readFileSync(MANIFEST, 'utf8')));
const { jobs, list, fresh, most } = readArguments();
if (list) {
  for (const { name, steps } of allJobs) console.log(`${name.padEnd(24)} ${steps.length} steps`);
  process.exit(0);
}
await prepare({ tests: true });
// Of the build that was just made.
await (await import('./support/provide-sandbox.mjs')).provideSandbox();
const code = stateOfCode();
const passed = new Set(fresh ? [] : readPassed());
const factor = measureFactor(1);
const verdicts = [];
for (const job of jobs) verdicts.push(await runJob(job));

console.log('');
for (const { name, outcome, done, of, seconds } of verdicts) {
  console.log(`${outcome.padEnd(8)} ${name.padEnd(24)} ${`${done} of ${of}`.padStart(12)} steps ${seconds} s`);
}
process.exit(verdicts.some(({ outcome }) => outcome === 'FAILED') ? 1 : 0);

/** One step after the other: what fails here fails without any load beside it. */
async function runJob({ name, steps }) {
  const startedAt = Date.now();
  const now = steps.filter((step) => !passed.has(nameOf(step))).slice(0, most);
  console.log(`\n${name}: runs ${now.length} of ${steps.length} steps`);
  let failed = 0;
  for (const step of now) {
    if (await (step.command === undefined ? runFile(step) : runCommand(step))) remember(step);
    else failed += 1;
  }
  const done = steps.filter((step) => passed.has(nameOf(step))).length;
  return {
    name,
    outcome: failed > 0 ? 'FAILED' : done === steps.length ? 'passed' : 'so far',
    done,
    of: steps.length,
    seconds: Math.round((Date.now() - startedAt) / 1000),
  };
}

async function runFile(step) {
  const stage = { name: nameOf(step), steps: [step], atOnce: 1, secondTry: false };
  const { failures } = await runSuite([stage], { factor, limitS: LIMIT_S, print: (line) => console.log(line) });
  return failures.length === 0;
}

async function runCommand(step) {
  const child = spawn(process.execPath, step.command, { stdio: 'inherit' });
  const [status] = await once(child, 'close');
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${nameOf(step)}`);
  return status === 0;
}

/** The commit, and whatever differs from it. */
function stateOfCode() {
  const git = (...words) => spawnSync('git', words, { encoding: 'utf8', maxBuffer: 2 ** 28 }).stdout;
  return createHash('sha256')
    .update(git('rev-parse', 'HEAD') + git('diff', 'HEAD'))
    .digest('hex');
}

function readPassed() {
  try {
    const known = JSON.parse(readFileSync(MEMORY, 'utf8'));
    return known.code === code ? known.passed : [];
  } catch {
    return [];
  }
}

function remember(step) {
  passed.add(nameOf(step));
  mkdirSync(dirname(MEMORY), { recursive: true });
  writeFileSync(MEMORY, JSON.stringify({ code, passed: [...passed] }));
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: {
        list: { type: 'boolean', default: false },
        fresh: { type: 'boolean', default: false },
        steps: { type: 'string' },
      },
      allowPositionals: true,
    });
    if (values.steps !== undefined && !/^[1-9]\d*$/.test(values.steps)) throw new Error('--steps takes a number.');
    const unknown = positionals.find((name) => !allJobs.some((job) => job.name === name));
    if (unknown !== undefined) throw new Error(`There is no job ${unknown}: npm run nightly -- --list`);
    return {
      jobs: positionals.length === 0 ? allJobs : allJobs.filter(({ name }) => positionals.includes(name)),
      most: values.steps === undefined ? Number.POSITIVE_INFINITY : Number(values.steps),
      ...values,
    };
  } catch (error) {
    console.error(`${error.message}\nUsage: npm run nightly [-- [--list] [--fresh] [--steps N] JOB...]`);
    process.exit(2);
  }
}
