import { randomBytes } from 'node:crypto';
import { fsync, writeFile } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode, systemFault } from '../../base/system-fault.js';
import { withFile } from '../../files/thread-files.js';
import { TroupeError } from '../../protocol/errors.js';
import { isMissing, MAX_FILE_BYTES, newPathInside, realInside, refused } from './flow-folder.js';

const written = promisify(writeFile);
const synced = promisify(fsync);

/**
 * Writes a file of the flows folder, whole or not at all, and creates the folders on its way.
 * @param folder the flows folder, absolute; created if necessary
 * @param path relative to it
 * @returns the path as given, and the size of the file
 * @throws SCRIPT_ERROR if the path or the text is refused, with the reason; a system fault such as a full disk as it is
 */
export async function writeInside(
  folder: string,
  path: unknown,
  text: string,
): Promise<{ readonly path: string; readonly bytes: number }> {
  const target = newPathInside(folder, path);
  const given = String(path);
  if (given.endsWith('/')) throw refused(path, 'it names a folder');
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_FILE_BYTES) throw refused(path, `its text has ${bytes} bytes, and ${MAX_FILE_BYTES} is the most`);
  await mkdir(folder, { recursive: true });
  const parent = await madeFolder(folder, given, dirname(target));
  const temporary = join(parent, `.${randomBytes(9).toString('hex')}.tmp`);
  try {
    const fill = async (descriptor: number) => {
      await written(descriptor, text);
      await synced(descriptor);
    };
    await withFile(temporary, 'wx', fill, 0o644);
    // A rename replaces a link and does not follow it.
    await rename(temporary, join(parent, target.slice(dirname(target).length + 1)));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    if (systemFault(error) !== null) throw error;
    throw refused(path, whyNot(error));
  }
  return { path: given, bytes };
}

/** What the file system says, without the paths of this machine. */
function whyNot(error: unknown): string {
  const code = errorCode(error);
  if (code === 'EISDIR' || code === 'ENOTEMPTY' || code === 'EEXIST') return 'it is a folder';
  if (code === 'ENOTDIR') return 'a folder in it is a file';
  return `it cannot be written (${String(code)})`;
}

/**
 * Makes a folder step by step, so that a link on the way is found before anything is made behind it.
 * @returns its real path
 */
async function madeFolder(folder: string, path: string, wanted: string): Promise<string> {
  try {
    return await realInside(folder, path, wanted);
  } catch (error) {
    if (error instanceof TroupeError || !isMissing(error)) throw error;
  }
  const parent = await madeFolder(folder, path, dirname(wanted));
  const made = join(parent, wanted.slice(dirname(wanted).length + 1));
  try {
    await mkdir(made);
  } catch (error) {
    // Another script made it in this moment; or something else is there, a dangling link for one.
    if (errorCode(error) !== 'EEXIST') throw refused(path, whyNot(error));
  }
  try {
    return await realInside(folder, path, made);
  } catch (error) {
    throw isMissing(error) ? refused(path, 'a folder in it is a file or a link to nothing') : error;
  }
}
