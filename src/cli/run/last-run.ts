import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { asAbsent } from '../../base/system-fault.js';
import { cacheFolder } from '../../config.js';

const LastRun = z.object({ failed: z.array(z.string()) });

/** The flows that failed in the last run of a flows folder on this machine, by name; null if none is known. */
export async function readLastFailed(root: string): Promise<ReadonlySet<string> | null> {
  const text = await readFile(fileOf(root), 'utf8').catch(asAbsent);
  if (text === null) return null;
  try {
    return new Set(LastRun.parse(JSON.parse(text)).failed);
  } catch {
    // It was cut off while it was written: as good as none.
    return null;
  }
}

/** Stores which flows failed, for `--last-failed`. Rejects if the cache folder cannot be written. */
export async function storeLastFailed(root: string, failed: readonly string[]): Promise<void> {
  const file = fileOf(root);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify({ root, failed })}\n`);
}

/** Outside of the checkout, which a run does not change. */
function fileOf(root: string): string {
  const key = createHash('sha256').update(root).digest('hex').slice(0, 16);
  return join(cacheFolder(), 'last-run', `${key}.json`);
}
