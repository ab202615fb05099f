import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { type Entry, fromBuffer, type ZipFile } from 'yauzl';

export interface ZippedFile {
  readonly content: Buffer;
  readonly stored: boolean;
}

/** Every file of a zip, in its order, by name. Rejects when the zip is broken or a checksum is wrong. */
export async function readZip(zip: Buffer): Promise<Map<string, ZippedFile>> {
  const opened = await new Promise<ZipFile>((resolve, reject) => {
    fromBuffer(zip, { lazyEntries: true }, (error, file) => (error === null ? resolve(file) : reject(error)));
  });
  const files = new Map<string, ZippedFile>();
  await new Promise<void>((resolve, reject) => {
    const take = async (entry: Entry) => {
      const content = await contentOf(opened, entry);
      if (crc32(content) !== entry.crc32) throw new Error(`${entry.fileName}: the checksum is wrong`);
      if (files.has(entry.fileName)) throw new Error(`${entry.fileName} is there twice`);
      files.set(entry.fileName, { content, stored: entry.compressionMethod === 0 });
      opened.readEntry();
    };
    opened.on('entry', (entry) => void take(entry).catch(reject));
    opened.on('end', resolve).on('error', reject);
    opened.readEntry();
  });
  return files;
}

async function contentOf(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const stream = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
    zip.openReadStream(entry, (error, opened) => (error === null ? resolve(opened) : reject(error)));
  });
  return buffer(stream);
}
