import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathInside } from '../../agent-js/flows/flow-folder.js';
import type { Config } from '../../config.js';
import { isPicture } from '../../protocol/batches/batch.js';

type Dirs = Pick<Config, 'flowsDir' | 'batchesDir'>;

/** Files that are written concurrently. */
const AT_ONCE = 16;

/**
 * The flows folder of a session: its batch's own if the batch has one, else the one with the files that the job brought to
 * this node (see `CarriedFiles`), otherwise the service's.
 * @param session left out: the folder that the service has for sessions of the batch
 */
export function flowsDirOf({ flowsDir, batchesDir }: Dirs, batch: string | null, session?: string): string {
  const own = [batch, session].flatMap((id) => (id == null ? [] : [ownFlowsDir(batchesDir, id)]));
  return own.find((folder) => existsSync(folder)) ?? flowsDir;
}

/** The folder of requests of a session. */
export function requestsDirOf(
  { requestsDir, batchesDir }: Pick<Config, 'requestsDir' | 'batchesDir'>,
  session: string,
): string {
  const own = join(batchesDir, session, 'requests');
  return existsSync(own) ? own : requestsDir;
}

/**
 * Writes a batch's own flows to its folder.
 * @param files texts by path, pictures in base64, validated by the protocol's schema
 */
export async function writeBatchFlows(
  { batchesDir }: Dirs,
  batch: string,
  files: { readonly [path: string]: string },
): Promise<void> {
  const folder = ownFlowsDir(batchesDir, batch);
  await mkdir(folder, { recursive: true });
  const left = Object.entries(files).values();
  const writeNext = async () => {
    for (const [path, text] of left) {
      const file = pathInside(folder, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, isPicture(path) ? Buffer.from(text, 'base64') : text);
    }
  };
  // Wait for all of them, even after an error: the caller then removes the folder, and nothing may write to it.
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, writeNext));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Does nothing for a batch without its own flows. */
export async function removeBatchFlows({ batchesDir }: Dirs, batch: string): Promise<void> {
  await rm(join(batchesDir, batch), { recursive: true, force: true });
}

function ownFlowsDir(batchesDir: string, batch: string): string {
  return join(batchesDir, batch, 'flows');
}
