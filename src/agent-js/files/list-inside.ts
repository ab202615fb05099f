import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { TroupeError } from '../../protocol/errors.js';
import { isMissing } from '../flows/flow-folder.js';
import { globMatcher } from '../network/glob-matcher.js';

/** Files of a list, and folders that are looked into for it; more are an error, since a cut list would be taken for whole. */
const MAX_LISTED = 10_000;

/**
 * Paths of the files in a folder, sorted, relative to it. Links are left out: what they lead to may be anywhere.
 * @throws SCRIPT_ERROR where there are more than 10,000 files or folders
 */
export async function listInside(folder: string, glob: string, signal: AbortSignal): Promise<string[]> {
  const matches = globMatcher(glob);
  const found: string[] = [];
  const waiting: string[] = [''];
  let looked = 0;
  for (let prefix = waiting.pop(); prefix !== undefined; prefix = waiting.pop()) {
    looked += 1;
    try {
      for await (const entry of await opendir(join(folder, prefix))) {
        signal.throwIfAborted();
        const path = `${prefix}${entry.name}`;
        if (entry.name.startsWith('.')) continue;
        if (entry.isDirectory()) waiting.push(`${path}/`);
        else if (entry.isFile() && matches(path)) found.push(path);
        if (found.length > MAX_LISTED || looked + waiting.length > MAX_LISTED) {
          throw new TroupeError(
            'SCRIPT_ERROR',
            `The flows folder has more than ${MAX_LISTED} files or folders to list`,
          );
        }
      }
    } catch (error) {
      // No flows folder yet, or one that was removed meanwhile.
      if (!isMissing(error)) throw error;
    }
  }
  return found.sort();
}
