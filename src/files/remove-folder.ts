import { chmod, opendir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, ifMissing } from '../base/system-fault.js';

/** Errors that `rm` fails with: paths that are too long for the system, and folders that deny access to their owner. */
const OBSTACLES: readonly unknown[] = ['ENAMETOOLONG', 'EACCES'];

/**
 * Removes a folder and its contents, whatever its depth and permissions. Nothing may still write to it. A missing
 * folder
 * is not an error.
 */
export async function removeFolder(path: string): Promise<void> {
  try {
    await removeAll(path);
  } catch (error) {
    if (!OBSTACLES.includes(errorCode(error))) throw error;
    await flatten(path);
    await removeAll(path);
  }
}

function removeAll(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
}

/**
 * Makes every folder accessible to its owner and moves it directly below `root`, so that no path is too long. The `rm`
 * that
 * failed may still be removing folders meanwhile: missing ones are skipped.
 */
async function flatten(root: string): Promise<void> {
  await openToOwner(root);
  let moved = 0;
  const waiting = [root];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const name of await foldersIn(folder)) {
      const path = join(folder, name);
      const target = folder === root ? path : join(root, `.${moved++}`);
      try {
        await openToOwner(path);
        if (target !== path) await rename(path, target);
        waiting.push(target);
      } catch (error) {
        ifMissing(error);
      }
    }
  }
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) if (entry.isDirectory()) names.push(entry.name);
  } catch (error) {
    ifMissing(error);
  }
  return names;
}

async function openToOwner(folder: string): Promise<void> {
  // Root needs no permission.
  if (process.geteuid?.() === 0) return;
  await chmod(folder, 0o700).catch(ifMissing);
}
