import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Entry, open, type ZipFile } from 'yauzl';
import { TroupeError } from '../protocol/errors.js';

/**
 * Unpacks a zip into a folder; files of the same name are replaced.
 * @param options.wanted which of its files; all by default
 * @param options.maxBytes how much they may have unpacked; no limit by default
 * @returns the names of the files that it has written
 * @throws UNAVAILABLE if a name leads out of the folder, or beyond `maxBytes`; Error if it is no zip
 */
export async function unpackZip(
  file: string,
  folder: string,
  {
    wanted = () => true,
    maxBytes = Number.POSITIVE_INFINITY,
  }: { wanted?(name: string): boolean; readonly maxBytes?: number } = {},
): Promise<readonly string[]> {
  const names: string[] = [];
  let bytes = 0;
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    open(file, { lazyEntries: true }, (error, opened) => (error === null ? resolve(opened) : reject(error)));
  });
  await new Promise<void>((resolve, reject) => {
    const take = async (entry: Entry) => {
      const target = join(folder, entry.fileName);
      if (relative(folder, target).startsWith('..')) {
        throw new TroupeError('UNAVAILABLE', `The zip has a name that leads out of its folder: ${entry.fileName}`);
      }
      if (!entry.fileName.endsWith('/') && wanted(entry.fileName)) {
        // The reader refuses a file that is larger than its entry says.
        bytes += entry.uncompressedSize;
        if (bytes > maxBytes) throw new TroupeError('UNAVAILABLE', `The zip has more than ${maxBytes} bytes unpacked`);
        await mkdir(dirname(target), { recursive: true });
        await pipeline(await contentOf(zip, entry), createWriteStream(target));
        names.push(entry.fileName);
      }
      zip.readEntry();
    };
    zip.on('entry', (entry: Entry) => void take(entry).catch(reject));
    zip.on('end', resolve).on('error', reject);
    zip.readEntry();
  }).finally(() => zip.close());
  return names;
}

function contentOf(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error === null ? resolve(stream) : reject(error)));
  });
}
