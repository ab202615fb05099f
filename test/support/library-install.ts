import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export const LIBRARIES = join(import.meta.dirname, '../pages/libraries');
const MODULES = join(LIBRARIES, 'node_modules');
const STAMP = join(MODULES, '.troupe-lock');
/** A folder is made or is there: two test files never install at once. */
const LOCK = join(LIBRARIES, 'installing.lock');
const INSTALL_MS = 600_000;
const LOOK_AGAIN_MS = 500;

/**
 * Installs the packages of the libraries' own lock file beside their pages, unless they are there already. No script of a
 * package runs.
 *
 * @returns why they cannot be had, in one sentence, for tap's `skip`; false when they are there
 */
export async function installLibraries(): Promise<string | false> {
  const wanted = createHash('sha256')
    .update(readFileSync(join(LIBRARIES, 'package-lock.json')))
    .digest('hex');
  const isInstalled = (): boolean => existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted;
  for (const deadline = Date.now() + INSTALL_MS; !isInstalled(); await pause(LOOK_AGAIN_MS)) {
    if (Date.now() > deadline)
      return `the libraries were not installed in time; remove ${LOCK} if nobody installs them`;
    if (!takeLock()) continue;
    try {
      if (isInstalled()) return false;
      const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
      const { status } = spawnSync('npm', words, { cwd: LIBRARIES, stdio: 'ignore', timeout: INSTALL_MS });
      if (status !== 0) return 'the libraries cannot be installed: is the npm registry reachable?';
      writeFileSync(STAMP, wanted);
    } finally {
      rmdirSync(LOCK);
    }
  }
  return false;
}

function takeLock(): boolean {
  try {
    mkdirSync(LOCK);
    return true;
  } catch {
    // One that a killed run has left.
    const age = Date.now() - (statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > INSTALL_MS) rmdirSync(LOCK);
    return false;
  }
}
