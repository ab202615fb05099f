import type { Readable } from 'node:stream';
import { type Entry, open, type ZipFile } from 'yauzl';

/** More entries than artifacts have. */
const MAX_ENTRIES = 50_000;

/** A file in a zip. */
export interface ZipEntry {
  /** With forward slashes; never absolute, and never with `..`. */
  readonly name: string;
  readonly modifiedAt: Date;
  /** What is in it. The content is never longer than the zip says. */
  read(): Promise<Readable>;
}

/** A zip that is open, until it is closed. */
export interface OpenZip {
  readonly entries: readonly ZipEntry[];
  close(): void;
}

/** Opens a zip to read its files without unpacking it. @throws Error if it is no zip, or has too many entries */
export async function openZip(file: string): Promise<OpenZip> {
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    open(file, { lazyEntries: true, autoClose: false }, (error, opened) =>
      error === null ? resolve(opened) : reject(error),
    );
  });
  try {
    const entries = await entriesOf(zip);
    return { entries, close: () => zip.close() };
  } catch (error) {
    zip.close();
    throw error;
  }
}

function entriesOf(zip: ZipFile): Promise<readonly ZipEntry[]> {
  return new Promise((resolve, reject) => {
    const entries: ZipEntry[] = [];
    zip.on('entry', (entry: Entry) => {
      if (!entry.fileName.endsWith('/')) {
        entries.push({ name: entry.fileName, modifiedAt: entry.getLastModDate(), read: () => contentOf(zip, entry) });
      }
      if (entries.length > MAX_ENTRIES) reject(new Error(`The zip has more than ${MAX_ENTRIES} files`));
      else zip.readEntry();
    });
    zip.on('end', () => resolve(entries)).on('error', reject);
    zip.readEntry();
  });
}

function contentOf(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error === null ? resolve(stream) : reject(error)));
  });
}
