import { runAgain, runSteps } from './run-steps.mjs';

/** More files than these that fail beside others and pass alone are a fault of the suite, and no second try helps. */
const UNSTEADY_AT_MOST = 3;

/**
 * Runs the stages of a suite, one after the other. A file that failed beside others runs once more, alone, after the last
 * stage; if it passes then, the run passes and says which files were unsteady.
 *
 * @param stages `{ name, steps, atOnce, endsRun, secondTry }`: how many files run at the same time, whether a failure ends the
 *   run at once, and whether a file that failed may be tried again
 * @param options those of `runSteps` but `atOnce`, and `print`, which is called with each line
 * @returns the counts of tests and assertions, and the files that failed or were unsteady
 */
export async function runSuite(stages, { print, ...options }) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures = [];
  const candidates = [];
  for (const stage of stages) {
    const results = await runStage(stage, { print, ...options });
    const failed = results.filter(({ ok }) => !ok);
    for (const result of results) if (result.ok) add(counts, result);
    (stage.secondTry ? candidates : failures).push(...failed);
    if (stage.endsRun && failed.length > 0) {
      print(`The stage ${stage.name} failed, so no other stage runs.`);
      break;
    }
  }
  const unsteady = await tryAgain({ candidates, failures, counts, print, options });
  for (const result of failures) add(counts, { ...result, failed: Math.max(1, result.failed) });
  return { ...counts, failures, unsteady };
}

async function runStage({ name, steps, atOnce }, { print, ...options }) {
  const startedAt = Date.now();
  const onResult = (result) => {
    options.onResult?.(result);
    for (const skip of result.skips) print(`       skipped in ${result.step.file}: ${skip}`);
    if (!result.ok) printFailure(result, print);
    else for (const line of result.shown) print(`       ${line.trim()}`);
  };
  const results = await runSteps(steps, { ...options, atOnce, onResult });
  const failed = results.filter(({ ok }) => !ok).length;
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const result of results) add(counts, result);
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  const outcome = failed === 0 ? `${counts.passed} passed` : `${failed} failed`;
  const files = steps.length === 1 ? '1 file' : `${steps.length} files`;
  print(`${failed === 0 ? 'ok    ' : 'FAILED'} ${name}: ${files}, ${outcome}, ${seconds} s`);
  return results;
}

/** Moves what fails for good from the candidates to the failures, and returns the others. */
async function tryAgain({ candidates, failures, counts, print, options }) {
  if (candidates.length > UNSTEADY_AT_MOST) {
    print(`More than ${UNSTEADY_AT_MOST} files failed, so none of them is tried again.`);
    failures.push(...candidates);
    return [];
  }
  const unsteady = [];
  for (const first of candidates) {
    const second = await runAgain(first, options);
    print(`${second.ok ? 'ok    ' : 'FAILED'} ${first.step.file}, the second time, alone`);
    if (second.ok) {
      add(counts, second);
      unsteady.push(first);
    } else {
      printFailure(second, print);
      failures.push(second);
    }
  }
  return unsteady;
}

function printFailure({ step, why, ms, load, shown, errors }, print) {
  print(`FAILED ${step.file} (${why}) after ${Math.round(ms / 1000)} s, load ${load.toFixed(1)}`);
  for (const line of [...shown, ...(errors === '' ? [] : errors.split('\n'))]) print(`       ${line}`);
}

function add(counts, { passed, failed, skipped }) {
  counts.passed += passed;
  counts.failed += failed;
  counts.skipped += skipped;
}

/** What the last lines of a run say of the files that failed beside others and passed alone. */
export function describeUnsteady(unsteady, commit) {
  if (unsteady.length === 0) return [];
  return [
    'Unsteady files failed beside others and passed alone. Each is a bug: enter it in test/unsteady.json.',
    ...unsteady.map(({ step, failure, why, load }) => {
      const { test = '', failure: reason = why } = failure ?? {};
      return `  ${JSON.stringify({ file: step.file, test, failure: reason, commit })} at load ${load.toFixed(1)}`;
    }),
  ];
}
