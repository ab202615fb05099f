// `npm test`: set-up, `npm run check`, then the gate of test/suites.json, stage by stage. `npm test -- --smoke` runs the smoke
// tests after it, `npm run smoke` runs them alone, and `npm test -- FILE...` these files, without the check. Prints a line for each
// stage and everything about what fails; exit code 1 when something failed. With TROUPE_REFUSE_SKIPS=1, as in CI, a skipped
// test is a failure.
//
// `--measure` runs one file at a time on a machine that does nothing else, and writes the processor time of each into the
// manifest. `--repeat N FILE...` runs files N times and prints how often each failed: it finds flaky tests.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { prepare } from './prepare.mjs';
import { measureFactor } from './support/deadline-factor.mjs';
import { describeUnsteady, runSuite } from './support/run-suite.mjs';
import { MANIFEST, stagesOf } from './support/suites.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** One more than there are cores, since a test waits now and then. */
const MANY = Math.max(3, availableParallelism() + 1);
/** Of files that start browsers. */
const FEW = 2;
const RULES = {
  pure: { atOnce: MANY, endsRun: true, secondTry: false },
  servers: { atOnce: MANY, secondTry: true },
  kills: { atOnce: 1, secondTry: false },
  others: { atOnce: FEW, secondTry: true },
};
const OPTIONS = {
  smoke: { type: 'boolean', default: false },
  'only-smoke': { type: 'boolean', default: false },
  measure: { type: 'boolean', default: false },
  repeat: { type: 'string' },
};

const startedAt = Date.now();
const { given, files } = readArguments();
process.chdir(root);
await prepare({ tests: true });
// Of the build that was just made.
await (await import('./support/provide-sandbox.mjs')).provideSandbox();
await buildRunner();
const factor = measureFactor(given.measure ? 1 : MANY);
process.exit(await chosenRun());

async function chosenRun() {
  if (given.repeat !== undefined) return repeat(Number(given.repeat));
  if (given.measure) return measure();
  if (files.length > 0) return finish(await runSuite([stageOf(files)], options()));
  const suites = [...(given['only-smoke'] ? [] : ['gate']), ...(given.smoke || given['only-smoke'] ? ['smoke'] : [])];
  if (suites.includes('gate') && (await check()) !== 0) return 1;
  return finish(await runSuite(suites.flatMap(stages), options()));
}

function finish({ passed, failed, skipped, failures, unsteady }) {
  console.log(
    `\nAll of it took ${Math.round((Date.now() - startedAt) / 1000)} s; limits were ${factor} times as long.`,
  );
  for (const { step, why } of failures) console.log(`Failed: ${step.file} (${why})`);
  for (const line of describeUnsteady(unsteady, commit())) console.log(line);
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  return failures.length === 0 ? 0 : 1;
}

async function repeat(rounds) {
  const failures = new Map();
  let failedRounds = 0;
  for (let round = 1; round <= rounds; round += 1) {
    console.log(`\nRound ${round} of ${rounds}`);
    const { failures: failed } = await runSuite([stageOf(files)], options());
    if (failed.length > 0) failedRounds += 1;
    for (const { step } of failed) failures.set(step.file, (failures.get(step.file) ?? 0) + 1);
  }
  console.log(`\n${failedRounds} of ${rounds} rounds failed`);
  for (const [file, times] of failures) console.log(`failed ${times} of ${rounds} times: ${file}`);
  return failedRounds === 0 ? 0 : 1;
}

/** Only what passes is measured. */
async function measure() {
  const manifest = readManifest();
  for (const suite of given.smoke ? ['gate', 'smoke'] : given['only-smoke'] ? ['smoke'] : ['gate']) {
    for (const { name, steps } of stagesOf(manifest, suite)) {
      const wanted = steps.filter(({ file }) => files.length === 0 || files.includes(file));
      await runSuite([{ ...RULES.kills, name, steps: wanted }], {
        ...options(),
        onResult: ({ step, ok, seconds }) => {
          if (!ok) return;
          manifest[suite].stages[name][step.file] = Math.max(0.1, Number(seconds.toFixed(1)));
          console.log(`${seconds.toFixed(1)} s  ${step.file}`);
        },
      });
      writeFileSync(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`);
    }
  }
  return run('inherit', 'node_modules/@biomejs/biome/bin/biome', ['format', '--write', MANIFEST]);
}

function stages(suite) {
  return stagesOf(readManifest(), suite).map((stage) => ({ ...stage, ...(RULES[stage.name] ?? RULES.others) }));
}

/** Files that are named run as they would alone: a failure is one. */
function stageOf(named) {
  const steps = named.map((file) => ({ file, env: {} }));
  return { name: 'files', steps, atOnce: MANY, secondTry: false };
}

function options() {
  return {
    refuseSkips: process.env.TROUPE_REFUSE_SKIPS === '1',
    // What a file leaves behind fails it in nightly jobs, and when it runs by hand.
    env: files.length > 0 ? {} : { TROUPE_LEAKS: 'report' },
    factor,
    print: (line) => console.log(line),
  };
}

function readManifest() {
  return JSON.parse(readFileSync(MANIFEST, 'utf8'));
}

function commit() {
  return spawnSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).stdout?.trim() ?? '';
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
    const unknown = positionals.find((file) => !existsSync(join(root, file)));
    if (unknown !== undefined) throw new Error(`There is no test file ${unknown}.`);
    const { repeat: rounds } = values;
    if (rounds !== undefined && (!/^[1-9]\d*$/.test(rounds) || positionals.length === 0)) {
      throw new Error('--repeat takes a number and at least one test file.');
    }
    return { given: values, files: positionals };
  } catch (error) {
    console.error(`${error.message}\nUsage: npm test -- [--smoke | --measure | --repeat N] [FILE...]`);
    process.exit(2);
  }
}

/** tap puts its plugins together once for an installation; without that its first run would have those of its own choice. */
async function buildRunner() {
  const stamp = join(root, 'node_modules', '.troupe-tap');
  if (existsSync(stamp) && statSync(stamp).mtimeMs > statSync(join(root, 'package.json')).mtimeMs) return;
  const built = await run('ignore', 'node_modules/tap/dist/esm/run.mjs', ['build']);
  if (built !== 0) process.exit(built);
  writeFileSync(stamp, '');
}

function check() {
  return run('inherit', 'scripts/check.mjs');
}

async function run(stdout, script, args = []) {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['inherit', stdout, 'inherit'] });
  const [code] = await once(child, 'close');
  return code ?? 1;
}
