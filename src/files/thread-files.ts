import { appendFile as appendTo, closeSync, open, readFile as readFrom, writeFile as writeTo } from 'node:fs';
import { promisify } from 'node:util';

/**
 * Files of a thread that may be terminated at any moment. What `node:fs/promises` opens then, or has open, stays open in the
 * process for good: two descriptors of four that were being written, each time. Node counts what the older calls open by
 * thread, and closes it with its thread (`trackUnmanagedFds` of https://nodejs.org/docs/latest-v20.x/api/worker_threads.html).
 * A close that waits for its turn is not counted any more, and may be cancelled: so it does not wait.
 */

const opened = promisify(open);
const written = promisify(writeTo);
const appended = promisify(appendTo);
const read = promisify(readFrom);

/**
 * Opens a file for as long as the work takes.
 * @param work is given the descriptor, for the calls of `node:fs` that take one
 * @param mode of a file that is made
 * @throws what the file system says
 */
export async function withFile<T>(
  path: string,
  flags: string | number,
  work: (descriptor: number) => Promise<T>,
  mode = 0o666,
): Promise<T> {
  const descriptor = await opened(path, flags, mode);
  try {
    return await work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** As `writeFile` of `node:fs/promises`: replaces what is there. */
export function writeFile(path: string, data: string | Uint8Array): Promise<void> {
  return withFile(path, 'w', (descriptor) => written(descriptor, data));
}

/** As `appendFile` of `node:fs/promises`: makes the file where there is none. */
export function appendFile(path: string, data: string | Uint8Array): Promise<void> {
  return withFile(path, 'a', (descriptor) => appended(descriptor, data));
}

/** As `readFile` of `node:fs/promises`: all of it. */
export function readFile(path: string): Promise<Buffer> {
  return withFile(path, 'r', (descriptor) => read(descriptor));
}
