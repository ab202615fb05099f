import { closeSync, constants, createReadStream, fstat, open, type Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { TroupeError } from '#troupe/protocol/errors.js';

/** Where the files of bodies are. */
export interface FilePlace {
  /** The base folder for relative paths. */
  readonly folder: string;
  /** The folder that files must be in; by default they may be anywhere. */
  readonly filesWithin?: string | undefined;
}

export interface BodyFile {
  /** Bytes. */
  readonly size: number;
  open(): Readable;
}

const opened = promisify(open);
const statOf = promisify(fstat);
// Opening a pipe or a device without a writer must not block a thread of the pool.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** @throws REQUEST_FAILED for a file that cannot be read, or is not within `filesWithin` */
export async function bodyFile(path: string, { folder, filesWithin }: FilePlace): Promise<BodyFile> {
  const absolute = resolve(folder, path);
  if (filesWithin === undefined) {
    const found = await stat(absolute).catch(() => null);
    if (found?.isFile() !== true) throw unreadable(path);
    return { size: found.size, open: () => createReadStream(absolute) };
  }
  const openOne = (): Promise<OpenFile> => openWithin(filesWithin, absolute, path);
  const { descriptor, size } = await openOne();
  closeSync(descriptor);
  async function* read(): AsyncGenerator<unknown> {
    // Checked again, since the path may lead elsewhere by now.
    yield* createReadStream('', { fd: (await openOne()).descriptor });
  }
  return { size, open: () => Readable.from(read(), { objectMode: false }) };
}

interface OpenFile {
  readonly descriptor: number;
  readonly size: number;
}

async function openWithin(folder: string, absolute: string, path: string): Promise<OpenFile> {
  const root = await realpath(folder).catch(() => resolve(folder));
  if (![root, resolve(folder)].some((one) => absolute.startsWith(one + sep))) throw outside(path);
  const real = await realOf(absolute, path);
  if (!real.startsWith(root + sep)) throw outside(path);
  const descriptor = await opened(real, FLAGS).catch(() => {
    throw unreadable(path);
  });
  try {
    const found: Stats = await statOf(descriptor);
    if (!found.isFile()) throw unreadable(path);
    // If a folder of the path became a link since the check, this is a different file.
    const again = await realOf(absolute, path);
    const { dev, ino } = await stat(again);
    if (!again.startsWith(root + sep) || dev !== found.dev || ino !== found.ino) throw outside(path);
    return { descriptor, size: found.size };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

async function realOf(absolute: string, path: string): Promise<string> {
  return await realpath(absolute).catch(() => {
    throw unreadable(path);
  });
}

function unreadable(path: string): TroupeError {
  return new TroupeError('REQUEST_FAILED', `The file ${path} of the request's body cannot be read`, { file: path });
}

function outside(path: string): TroupeError {
  return new TroupeError(
    'REQUEST_FAILED',
    `The file ${path} of the request's body is outside of requests/; put the file into requests/ and name it there`,
    { file: path, cause: 'OUTSIDE' },
  );
}
