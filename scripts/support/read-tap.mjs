/**
 * Reads what a test file printed (https://testanything.org/tap-version-14-specification.html).
 *
 * @returns how many tests and assertions passed, failed, and were skipped; `shown`, the lines that a person wants to see:
 *   everything about what fails; `skips`, the lines of what was skipped; `failure`, the name of the test that failed first
 *   and what failed in it; and whether the file got as far as its `plan`
 */
export function readTap(lines) {
  const read = { passed: 0, failed: 0, skipped: 0, shown: [], skips: [], failure: undefined, plan: false };
  let reason;
  let inFailure = false;
  for (const line of lines) {
    const plan = /^1\.\.(\d+)/.exec(line);
    if (plan !== null) read.plan = true;
    // A file that plans nothing is skipped as a whole.
    if (plan?.[1] === '0') {
      read.skipped += 1;
      read.skips.push(line);
      continue;
    }
    const [, indent, not, name] = /^(\s*)(not )?ok \d+ - (.*)$/.exec(line) ?? [];
    if (name === undefined) {
      // The details of a failure are in the block after it.
      if (inFailure) read.shown.push(line);
      if (/^\s*\.\.\.$/.test(line)) inFailure = false;
      if (/^\s*# LEAK /.test(line)) read.shown.push(line);
      continue;
    }
    const isSkipped = /# SKIP/i.test(name);
    inFailure = not !== undefined;
    read[isSkipped ? 'skipped' : inFailure ? 'failed' : 'passed'] += 1;
    if (isSkipped) read.skips.push(line.trim().replace(/^(not )?ok \d+ - /, ''));
    if (!inFailure) continue;
    read.shown.push(line);
    const plain = name.replace(/ # time=.*$/, '');
    reason ??= plain;
    if (indent === '') read.failure ??= { test: plain, failure: reason };
  }
  return read;
}
