import { watch } from 'node:fs';
import { pause, Wakeups } from '../../base/deadline.js';
import { PRODUCT_NAME } from '../../protocol/product-name.js';
import { describeFailure } from '../../terminal/failure.js';
import { print, printError } from '../../terminal/output.js';
import { concernedFiles } from './plan/changed-flows.js';
import type { RunFiles } from './plan/run-files.js';

/** An editor writes a file in several steps. */
const SETTLE_MS = 150;

/**
 * Runs, and runs again what a change of the flows folder concerns, until the signal.
 * @param find finds the files of the run
 * @param run runs those files of it; null: all
 * @returns what the last run returned
 */
export async function watchRuns(
  find: () => Promise<RunFiles>,
  run: (only: ReadonlySet<string> | null) => Promise<number>,
  signal: AbortSignal,
): Promise<number> {
  let files = await find();
  if (files.root === null) return run(null);
  const changes = new Wakeups();
  let changed = false;
  const watcher = watch(files.root, { recursive: true }, () => {
    changed = true;
    changes.wake();
  });
  watcher.on('error', (error) => printError(`${PRODUCT_NAME}: changes are no longer seen: ${error.message}\n`));
  try {
    let code = await run(null);
    while (!signal.aborted) {
      print('Waiting for changes; Ctrl-C ends\n');
      while (!changed && !signal.aborted) await changes.next(signal).catch(() => undefined);
      await pause(SETTLE_MS, { signal }).catch(() => undefined);
      changed = false;
      if (signal.aborted) break;
      const before = files;
      try {
        files = await find();
      } catch (error) {
        printError(`${PRODUCT_NAME}: ${describeFailure(error)}\n`);
        continue;
      }
      const only = concernedFiles(files, differences(before, files));
      if (only.size > 0) code = await run(only);
    }
    return code;
  } finally {
    watcher.close();
  }
}

/** The paths whose texts differ. */
function differences({ texts: before }: RunFiles, { texts: now }: RunFiles): ReadonlySet<string> {
  const paths = [...Object.keys(before), ...Object.keys(now)];
  return new Set(paths.filter((path) => before[path] !== now[path]));
}
