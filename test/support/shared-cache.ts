import { mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The service's cache folder, where it unpacks the embedded Chromium. All test files of all runs share it. */
export function cacheDir(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'troupe');
}

/**
 * Root's home is closed to the user that browsers run as, so the service of root unpacks into the temporary folder, and
 * each test file has one of its own: 200 MB and seconds for each. They share a folder of this one instead. Nobody but
 * root must be able to write to it, since a browser of it is run.
 */
export function shareCache(temporary: string): void {
  if (process.geteuid?.() !== 0 || process.env.XDG_CACHE_HOME) return;
  const folder = join(temporary, 'troupe-test-cache-0');
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const { uid, mode } = statSync(folder);
  if (uid !== 0 || (mode & 0o022) !== 0) throw new Error(`${folder} can be written to by others; remove it`);
  process.env.XDG_CACHE_HOME = folder;
}
