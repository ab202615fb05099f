import { tmpdir } from 'node:os';
import { killProcess, processesWith } from './processes.js';

/** The lease ids of this test file's running browsers, in order. Of the process driver; wants `guardLeaks`. */
export function runningBrowsers(): readonly string[] {
  const lines = processesWith(`user-data-dir=${tmpdir()}/`).map(({ commandLine }) => commandLine);
  const ids = lines.flatMap((line) => /--user-data-dir=\S*\/b-([a-z0-9]+)\/profile/.exec(line)?.[1] ?? []);
  return [...new Set(ids)].sort();
}

/** Kills a session's browser with all its processes, as the kernel does when memory is short. */
export function killBrowser(id: string): void {
  for (const { pid } of processesWith(`b-${id}/`)) killProcess(pid);
}
