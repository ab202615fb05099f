import { constants, createReadStream, type Stats } from 'node:fs';
import { type FileHandle, open, opendir } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { asAbsent } from '../base/system-fault.js';

/**
 * A file in a folder that an untrusted process may write to: a browser, or a page that exploited it. A name there may
 * be a
 * link to any file of the machine, a FIFO that blocks on opening, or change between two accesses. So
 * {@link openRegularFile} opens such a file once, and only the open file is inspected and read.
 */
export interface RegularFile {
  readonly file: FileHandle;
  readonly stats: Stats;
}

/** Does not follow a link, and does not block on a FIFO or a device. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Opens a regular file for reading; null if there is none, or this user may not read it. Its parent folders are
 * trusted:
 * they must belong to the service. The caller closes the file.
 * @throws a system fault, such as too many open files
 */
export async function openRegularFile(path: string): Promise<RegularFile | null> {
  const file = await open(path, FLAGS).catch(asAbsent);
  if (file === null) return null;
  const stats = await file.stat().catch(() => null);
  if (stats?.isFile()) return { file, stats };
  await file.close();
  return null;
}

/**
 * Whether the file has no other name. A hard link may point to a file of another user that the service must not hand
 * out.
 */
export function hasOneName(stats: Stats): boolean {
  return stats.isFile() && stats.nlink === 1;
}

/** Like {@link openRegularFile}, but also null for a file with other hard links. */
export async function openOwnFile(path: string): Promise<RegularFile | null> {
  const opened = await openRegularFile(path);
  if (opened === null || hasOneName(opened.stats)) return opened;
  await opened.file.close();
  return null;
}

/**
 * Streams the file, up to its size when it was opened. Closes the file when the stream ends or is destroyed.
 * @param range only these bytes, both ends included
 */
export function contentOf(
  { file, stats }: RegularFile,
  { start, end }: { readonly start: number; readonly end: number } = { start: 0, end: stats.size - 1 },
): Readable {
  if (end >= start) return createReadStream('', { fd: file, start, end });
  return new Readable({
    read() {
      this.push(null);
    },
    destroy(error, done) {
      file.close().then(
        () => done(error),
        (cause: Error) => done(cause),
      );
    },
  });
}

/**
 * Names of the regular files in a folder, at most `max`; none if there is no folder. In a folder that is full of other
 * entries, only a part is searched.
 */
export async function regularFileNames(dir: string, max: number): Promise<string[]> {
  const names: string[] = [];
  const entries = await opendir(dir).catch(asAbsent);
  if (entries === null) return names;
  let looked = 0;
  for await (const entry of entries) {
    looked += 1;
    if (entry.isFile()) names.push(entry.name);
    if (names.length >= max || looked >= 10 * max) break;
  }
  return names;
}
