import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { delimiter, dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { cachedPackages } from './cached-packages.mjs';
import { compileTests } from './compile-tests.mjs';
import { stretchedBy } from './deadline-factor.mjs';
import { readTap } from './read-tap.mjs';

const CACHE = resolve('node_modules/.cache/troupe');
/** A file that does not end by itself when its time is up is killed so much later. */
const KILLED_AFTER_MS = 15_000;
/** Characters of what a file wrote to standard error last. */
const ERRORS_SHOWN = 4_000;

/**
 * Runs test files, several at a time, in the order given.
 *
 * @param steps as `suites.mjs` makes them; the paths are relative to the root of the checkout, which is the current folder
 * @param options.atOnce how many run at the same time
 * @param options.refuseSkips fails a file that skips a test
 * @param options.limitS the longest that a file may take, in seconds, on a machine that does nothing else
 * @param options.factor how many times longer limits are, those of the files and `limitS`: `deadline-factor.mjs`
 * @param options.env what test files find in their environment, beside that of this process
 * @param options.onResult is called with each result as its file ends
 * @returns the results: `step`, `ok`, `why` it is not, what `readTap` says, the end of its standard `errors`, the `load` of
 *   the machine when it ended, `ms`, and `seconds` of processor time that the whole machine spent meanwhile
 */
export async function runSteps(steps, { atOnce, refuseSkips = false, limitS = 300, env = {}, factor = 1, onResult }) {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(`${CACHE}/compiled-`);
  try {
    const compiled = await compileTests([...new Set(steps.map(({ file }) => file))], folder);
    const waiting = [...steps];
    const results = [];
    const work = async () => {
      for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
        const result = await runStep(step, compiled.get(step.file), { refuseSkips, limitS, env, factor });
        results.push(result);
        onResult?.(result);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Runs a step that failed once more, alone.
 *
 * @returns the second result. It is not ok if the file skips a test that ran, or was not reached, the first time.
 */
export async function runAgain({ step, skips }, options) {
  const [second] = await runSteps([step], { ...options, atOnce: 1 });
  const added = second.skips.filter((skip) => !skips.includes(skip));
  return added.length === 0 ? second : { ...second, ok: false, why: `skipped the second time: ${added.join(', ')}` };
}

/** Seconds of processor time that the whole machine has spent since it started. */
export function processorSeconds() {
  const spent = cpus().map(({ times }) => times.user + times.nice + times.sys + times.irq);
  return spent.reduce((sum, ms) => sum + ms, 0) / 1000;
}

async function runStep(step, file, { refuseSkips, limitS, env, factor }) {
  const startedAt = Date.now();
  const spentBefore = processorSeconds();
  const node = nodeOf(step);
  const child = spawn(node, ['--enable-source-maps', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...stretchedBy(factor),
      ...env,
      ...step.env,
      PATH: step.node === undefined ? process.env.PATH : `${dirname(node)}${delimiter}${process.env.PATH}`,
      TAP: '1',
      TAP_TIMEOUT: String(Math.ceil(limitS * factor)),
      TAP_FAIL_SKIP: refuseSkips ? '1' : '0',
    },
  });
  const lines = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors = (errors + text).slice(-ERRORS_SHOWN);
  });
  const late = setTimeout(() => child.kill('SIGKILL'), limitS * factor * 1000 + KILLED_AFTER_MS);
  const [code, signal] = await once(child, 'close');
  clearTimeout(late);
  const tap = readTap(lines);
  return {
    step,
    ...tap,
    errors: errors.trim(),
    ...verdict({ code, signal, tap, refuseSkips }),
    load: loadavg()[0],
    ms: Date.now() - startedAt,
    seconds: processorSeconds() - spentBefore,
  };
}

function verdict({ code, signal, tap, refuseSkips }) {
  if (signal !== null) return { ok: false, why: `signal ${signal}` };
  if (code !== 0) return { ok: false, why: `exit code ${code}` };
  // A file that ends before it has said what it planned has not passed, whatever its exit code.
  if (!tap.plan) return { ok: false, why: 'printed no plan' };
  if (refuseSkips && tap.skipped > 0) return { ok: false, why: 'skipped tests' };
  return { ok: true };
}

/** The Node that a step wants, from the registry, in a cache outside of the checkout. */
function nodeOf({ node }) {
  if (node === undefined) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  return cachedPackages(`node-${node}`, [`${name}@${node}`])(name, 'bin', 'node');
}
