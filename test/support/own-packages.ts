import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const INSTALL_MS = 600_000;
const LOOK_AGAIN_MS = 500;

/**
 * Installs the packages of a folder's own lock file, unless they are there already. No script of a package runs.
 *
 * @returns why they cannot be had, in one sentence, for tap's `skip`; false when they are there
 */
export async function installOwnPackages(folder: string): Promise<string | false> {
  const stamp = join(folder, 'node_modules/.troupe-lock');
  // A folder is made or is there: two test files never install at once.
  const lock = join(folder, 'installing.lock');
  const wanted = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  const isInstalled = (): boolean => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
  for (const deadline = Date.now() + INSTALL_MS; !isInstalled(); await pause(LOOK_AGAIN_MS)) {
    if (Date.now() > deadline)
      return `the packages of ${folder} were not installed in time; remove ${lock} if nobody installs them`;
    if (!takeLock(lock)) continue;
    try {
      if (isInstalled()) return false;
      const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
      const { status } = spawnSync('npm', words, { cwd: folder, stdio: 'ignore', timeout: INSTALL_MS });
      if (status !== 0) return `the packages of ${folder} cannot be installed: is the npm registry reachable?`;
      writeFileSync(stamp, wanted);
    } finally {
      rmdirSync(lock);
    }
  }
  return false;
}

function takeLock(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    // One that a killed run has left.
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > INSTALL_MS) rmdirSync(lock);
    return false;
  }
}
