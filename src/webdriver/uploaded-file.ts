import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type Entry, fromBuffer, type ZipFile } from 'yauzl';
import { TroupeError } from '../protocol/errors.js';
import { isFileName } from '../protocol/file-name.js';
import type { Sessions } from '../supervisor/ports/sessions.js';

const MAX_FILE_BYTES = 100 * 1024 * 1024;

/**
 * Selenium's `se/file`: `file` is a zip in base64 with one file. It is stored among the session's uploads.
 * @returns its path, for Element Send Keys
 * @throws INVALID_REQUEST
 */
export async function storeUpload(
  id: string,
  { file }: { readonly [name: string]: unknown },
  sessions: Sessions,
): Promise<string> {
  if (typeof file !== 'string') throw invalid('"file" must be a zip in base64');
  const { name, content } = await onlyFile(Buffer.from(file, 'base64'));
  await sessions.artifacts.write(id, name, content);
  return join(sessions.connections.devTools(id, undefined).uploadsDir, name);
}

async function onlyFile(bytes: Buffer): Promise<{ readonly name: string; readonly content: Readable }> {
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    fromBuffer(bytes, { lazyEntries: true }, (error, opened) =>
      error === null ? resolve(opened) : reject(invalid('"file" is not a zip in base64')),
    );
  });
  const entry = await new Promise<Entry>((resolve, reject) => {
    zip.once('entry', resolve);
    zip.once('error', () => reject(invalid('"file" is not a complete zip')));
    zip.once('end', () => reject(invalid('The zip in "file" is empty; put one file into it')));
    zip.readEntry();
  });
  const name = entry.fileName.split('/').at(-1) ?? '';
  if (zip.entryCount !== 1 || !isFileName(name)) throw invalid('The zip in "file" must have one file and nothing else');
  if (entry.uncompressedSize > MAX_FILE_BYTES) throw invalid(`The file is larger than ${MAX_FILE_BYTES} bytes`);
  const content = await new Promise<Readable>((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) =>
      error === null ? resolve(stream) : reject(invalid('The file in the zip cannot be read')),
    );
  });
  return { name, content };
}

function invalid(message: string): TroupeError {
  return new TroupeError('INVALID_REQUEST', message);
}
