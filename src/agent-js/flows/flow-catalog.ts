import { asAbsent } from '../../base/system-fault.js';
import { listInside } from '../files/list-inside.js';
import { readInside } from './flow-folder.js';
import { leadingComment } from './leading-comment.js';

/** A flow of the flows folder. */
export interface FlowEntry {
  /** As Flow.run takes it: without its extension. */
  readonly path: string;
  /** The first line of its leading comment; empty where it has none. */
  readonly about: string;
}

/** Flows that are read for their comment; of those beyond the path alone is known. */
const MAX_READ = 200;
const MAX_FILE_BYTES = 256 * 1024;

/** The flows there are, by path. Empty where the folder is not there or cannot be listed. */
export async function flowCatalog(flowsDir: string, signal: AbortSignal): Promise<readonly FlowEntry[]> {
  const files = (await listInside(flowsDir, '**/*.js', signal).catch(asAbsent)) ?? [];
  return await Promise.all(
    files.map(async (file, index): Promise<FlowEntry> => {
      const source = index < MAX_READ ? await readInside(flowsDir, file, MAX_FILE_BYTES).catch(asAbsent) : null;
      return { path: file.replace(/\.js$/, ''), about: leadingComment(source ?? '').split('\n')[0] ?? '' };
    }),
  );
}
