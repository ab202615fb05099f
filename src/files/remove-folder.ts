import { chmod, opendir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** What `rm` stumbles over: paths that are too long for the system, and folders that are closed to their owner. */
const OBSTACLES: readonly unknown[] = ['ENAMETOOLONG', 'EACCES'];

/**
 * Removes a folder with all that is inside, however deep it is nested and whatever its folders allow. Whoever wrote there
 * must be gone. A folder that is not there is no fault.
 */
export async function removeFolder(path: string): Promise<void> {
  try {
    await removeAll(path);
  } catch (error) {
    if (!OBSTACLES.includes(Reflect.get(Object(error), 'code'))) throw error;
    await flatten(path);
    await removeAll(path);
  }
}

function removeAll(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
}

/** Opens every folder to its owner and moves it directly below `root`, so that no path is long any more. */
async function flatten(root: string): Promise<void> {
  await openToOwner(root);
  let moved = 0;
  const waiting = [root];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for await (const entry of await opendir(folder)) {
      if (!entry.isDirectory()) continue;
      const path = join(folder, entry.name);
      await openToOwner(path);
      const target = folder === root ? path : join(root, `.${moved++}`);
      if (target !== path) await rename(path, target);
      waiting.push(target);
    }
  }
}

async function openToOwner(folder: string): Promise<void> {
  // Root needs no leave.
  if (process.geteuid?.() !== 0) await chmod(folder, 0o700);
}
