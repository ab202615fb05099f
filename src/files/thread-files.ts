import { appendFile as appendTo, closeSync, open, readFile as readFrom, writeFile as writeTo } from 'node:fs';
import { promisify } from 'node:util';

/**
 * File access for a thread that may be terminated at any moment. Files that `node:fs/promises` has open then stay open
 * in
 * the process permanently: two descriptors of four that were being written, each time. Node tracks files that the
 * callback
 * API opens by thread, and closes them with it (`trackUnmanagedFds` of
 * https://nodejs.org/docs/latest-v20.x/api/worker_threads.html). A pending asynchronous close is no longer tracked and
 * may
 * be cancelled, so files are closed synchronously.
 */

const opened = promisify(open);
const written = promisify(writeTo);
const appended = promisify(appendTo);
const read = promisify(readFrom);

/**
 * Opens a file while `work` runs.
 * @param work gets the descriptor, for functions of `node:fs`
 * @param mode permissions of a new file
 * @throws the file system's error
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

/** Like `writeFile` of `node:fs/promises`: replaces the content. */
export function writeFile(path: string, data: string | Uint8Array): Promise<void> {
  return withFile(path, 'w', (descriptor) => written(descriptor, data));
}

/** Like `appendFile` of `node:fs/promises`: creates the file if needed. */
export function appendFile(path: string, data: string | Uint8Array): Promise<void> {
  return withFile(path, 'a', (descriptor) => appended(descriptor, data));
}

/** Like `readFile` of `node:fs/promises`. */
export function readFile(path: string): Promise<Buffer> {
  return withFile(path, 'r', (descriptor) => read(descriptor));
}
