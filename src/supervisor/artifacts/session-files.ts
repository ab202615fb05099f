import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { lstat, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { asAbsent, errorCode } from '../../base/system-fault.js';
import {
  contentOf,
  hasOneName,
  openOwnFile,
  openRegularFile,
  type RegularFile,
  regularFileNames,
} from '../../files/regular-file.js';
import type { SessionFile } from '../../protocol/answers.js';
import { TroupeError } from '../../protocol/errors.js';
import { isFileName } from '../../protocol/file-name.js';
import type { OpenFile } from '../ports/artifacts.js';
import { reserveUpload, type UploadSlot } from './upload-quota.js';

/** The largest upload, in bytes. */
export const MAX_UPLOAD_BYTES = 100 * 1024 * 1024;
/** The most files of a folder that are listed. */
const MAX_LISTED = 10_000;

/** The folders of a session's files. `uploadsDir` is null when its browser is gone. */
export interface FileDirs {
  readonly downloadsDir: string;
  readonly uploadsDir: string | null;
}

/** The folders of an ended session, which has only downloads. @param dir that of its artifacts */
export function endedSessionFiles(dir: string): FileDirs {
  return { downloadsDir: join(dir, 'downloads'), uploadsDir: null };
}

export async function listFiles({ downloadsDir, uploadsDir }: FileDirs): Promise<readonly SessionFile[]> {
  const [downloads, uploads] = await Promise.all([
    listDir(downloadsDir, 'download'),
    uploadsDir === null ? [] : listDir(uploadsDir, 'upload'),
  ]);
  return [...downloads, ...uploads];
}

/** @throws NOT_FOUND if the name is not one plain path segment, or not that of a regular file */
export async function openFile(dirs: FileDirs, name: string): Promise<OpenFile> {
  for (const dir of [dirs.downloadsDir, dirs.uploadsDir]) {
    // Pages choose the names, and the browser's user may write to some of these folders: a link could lead anywhere.
    const file = dir === null || !isFileName(name) ? null : await openOwnFile(join(dir, name));
    if (file !== null) return opened(file);
  }
  throw new TroupeError('NOT_FOUND', `The session has no file '${name}'`);
}

/** @throws NOT_FOUND as {@link openFile} */
export async function openArtifact(dir: string, name: string): Promise<OpenFile> {
  const file = isFileName(name) ? await openRegularFile(join(dir, name)) : null;
  if (file === null) throw new TroupeError('NOT_FOUND', `The session has no '${name}'`);
  return opened(file);
}

function opened(file: RegularFile): OpenFile {
  return { bytes: file.stats.size, stream: contentOf(file) };
}

/**
 * Stores a file where the session's browser can choose it. Replaces a file of the same name when the upload is
 * complete.
 * @throws INVALID_REQUEST if the name is not one plain path segment; BODY_TOO_LARGE beyond {@link MAX_UPLOAD_BYTES},
 * and
 *  as {@link reserveUpload}
 */
export async function storeUpload(uploadsDir: string, name: string, content: Readable): Promise<SessionFile> {
  if (!isFileName(name)) {
    throw new TroupeError('INVALID_REQUEST', 'A file name is one path segment of at most 255 bytes', {
      issues: [{ path: 'name', message: 'not a file name' }],
    });
  }
  const slot = await reserveUpload(uploadsDir, name);
  const part = join(uploadsDir, `.${randomUUID()}.part`);
  try {
    await pipeline(content, counted(MAX_UPLOAD_BYTES, slot), createWriteStream(part, { mode: 0o644 }));
    await rename(part, join(uploadsDir, name));
    slot.stored();
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  } finally {
    slot.leave();
  }
  const stats = await lstat(join(uploadsDir, name));
  return { name, bytes: stats.size, source: 'upload', modifiedAt: stats.mtime.toISOString() };
}

/**
 * Moves a browser's downloads to a folder that outlives the browser, which may still write to `from`. A missing folder
 * is
 * treated as empty. A file that cannot be moved does not affect the others.
 * @throws the first error, after all have been tried
 */
export async function keepDownloads(from: string, to: string): Promise<void> {
  const faults: unknown[] = [];
  for (const { name } of await listDir(from, 'download')) {
    await mkdir(to, { recursive: true });
    await keepFile(from, to, name).catch((error: unknown) => faults.push(error));
  }
  if (faults.length > 0) throw faults[0];
}

async function keepFile(from: string, to: string, name: string): Promise<void> {
  try {
    await rename(join(from, name), join(to, name));
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    return copyOwnFile(join(from, name), join(to, name));
  }
  // Check again out of the browser's reach: until the move, the browser could still replace the file.
  if (hasOneName(await lstat(join(to, name)))) return;
  // Move it back under an unused name: a folder cannot be removed safely while another process may write to it.
  await rename(join(to, name), join(from, `.${randomUUID()}.refused`));
}

async function copyOwnFile(from: string, to: string): Promise<void> {
  const file = await openOwnFile(from);
  if (file === null) return;
  const part = join(to, '..', `.${randomUUID()}.part`);
  try {
    await pipeline(contentOf(file), createWriteStream(part, { flags: 'wx' }));
    await rename(part, to);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function listDir(dir: string, source: SessionFile['source']): Promise<readonly SessionFile[]> {
  const names = (await regularFileNames(dir, MAX_LISTED)).filter((name) => !isUnfinished(name));
  const files = await Promise.all(
    names.map(async (name): Promise<SessionFile | null> => {
      const stats = await lstat(join(dir, name)).catch(asAbsent);
      if (stats === null || !hasOneName(stats)) return null;
      return { name, bytes: stats.size, source, modifiedAt: stats.mtime.toISOString() };
    }),
  );
  return files.filter((file) => file !== null).sort((a, b) => a.name.localeCompare(b.name));
}

function isUnfinished(name: string): boolean {
  return name.endsWith('.crdownload') || (name.startsWith('.') && name.endsWith('.part'));
}

function counted(maxBytes: number, slot: UploadSlot): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      try {
        slot.addBytes(chunk.length);
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      if (bytes <= maxBytes) done(null, chunk);
      else done(new TroupeError('BODY_TOO_LARGE', `A file may have at most ${maxBytes} bytes`));
    },
  });
}
