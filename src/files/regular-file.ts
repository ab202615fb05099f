import { constants, createReadStream, type Stats } from 'node:fs';
import { type FileHandle, open, opendir } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { asAbsent } from '../base/system-fault.js';

/**
 * Files in folders that somebody else may write to: a browser, or a page that took it over. A name there may be a link to
 * any file of the machine, a FIFO that keeps whoever opens it waiting, or change between two looks at it. So such a file
 * is opened once, by {@link openRegularFile}, and only the open file is asked what it is and read.
 */
export interface RegularFile {
  readonly file: FileHandle;
  readonly stats: Stats;
}

/** A link is not followed, and a FIFO or a device is opened without waiting for it. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Opens a regular file for reading; null where there is none, or this user may not read it. Folders above it are taken as
 * they are: they must belong to the service. The caller closes the file.
 * @throws a fault of the system, such as too many open files
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
 * Whether these are the stats of a file that has no other name. One that has may be somebody else's, linked to where the
 * service would hand it out.
 */
export function hasOneName(stats: Stats): boolean {
  return stats.isFile() && stats.nlink === 1;
}

/** As {@link openRegularFile}; null also for a file that has another name. */
export async function openOwnFile(path: string): Promise<RegularFile | null> {
  const opened = await openRegularFile(path);
  if (opened === null || hasOneName(opened.stats)) return opened;
  await opened.file.close();
  return null;
}

/** What the file holds, up to the size that it had when it was opened. Closes the file when it ends or is destroyed. */
export function contentOf({ file, stats }: RegularFile): Readable {
  if (stats.size > 0) return createReadStream('', { fd: file, end: stats.size - 1 });
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
 * Names of the regular files in a folder, at most `max`; nothing where there is no folder. Of a folder that is full of
 * other things only a part is looked at.
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
