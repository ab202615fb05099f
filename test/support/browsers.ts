import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';

/** The lease ids of this test file's running browsers, in order. Of the process driver; wants `guardLeaks`. */
export function runningBrowsers(): readonly string[] {
  const { stdout } = spawnSync('pgrep', ['-a', '-f', `user-data-dir=${tmpdir()}/`], { encoding: 'utf8' });
  const ids = [...stdout.matchAll(/--user-data-dir=\S*\/b-([a-z0-9]+)\/profile/g)].map(([, id = '']) => id);
  return [...new Set(ids)].sort();
}

/** Kills a session's browser with all its processes, as the kernel does when memory is short. */
export function killBrowser(id: string): void {
  const { stdout } = spawnSync('pgrep', ['-f', `b-${id}/`], { encoding: 'utf8' });
  // Where there is none there must be no number: 0 would be this process and all its relatives.
  for (const pid of stdout.split('\n').filter(Boolean).map(Number)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It went with its parent.
    }
  }
}
