import { randomBytes } from 'node:crypto';
import { fsync, writeFile } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode, systemFault } from '../../base/system-fault.js';
import { withFile } from '../../files/thread-files.js';
import { TroupeError } from '../../protocol/errors.js';
import { readBundle } from '../../script/bundle.js';
import type { HostModule } from '../../script/host-module.js';
import { isMissing, newPathInside, pathInside, readInside, realInside, refused } from '../flows/flow-folder.js';
import { listInside } from './list-inside.js';

/** Bytes of a file that a script may write or read. */
const MAX_FILE_BYTES = 1024 * 1024;

const written = promisify(writeFile);
const synced = promisify(fsync);

export interface FilesOptions {
  /** Absolute; made when something is written. */
  readonly flowsDir: string;
}

/**
 * `File.write(path, text)`, `File.read(path)` and `File.list(glob?)` of scripts, under the flows folder and nowhere else.
 * A file is written whole or not at all. Everything that is refused is SCRIPT_ERROR and says why.
 */
export function filesModule({ flowsDir }: FilesOptions): HostModule {
  return {
    name: 'files',
    prelude: readBundle(import.meta.url, '../prelude/files'),
    calls: {
      write: async ([path, text]) => {
        const target = newPathInside(flowsDir, path);
        if (String(path).endsWith('/')) throw refused(path, 'it names a folder');
        if (typeof text !== 'string') throw refused(path, 'what is written has to be a text');
        return writeInside(flowsDir, target, String(path), text);
      },
      read: async ([path]) => {
        pathInside(flowsDir, path);
        const text = await readInside(flowsDir, String(path), MAX_FILE_BYTES);
        if (text !== null) return text;
        throw refused(path, 'there is no such file');
      },
      list: async ([glob], { signal }) => {
        if (glob !== undefined && glob !== null && typeof glob !== 'string') throw refused(glob, 'a glob is a text');
        if (/^\/|(^|\/)\.\.(\/|$)/.test(glob ?? '')) throw refused(glob, 'it leads out of the flows folder');
        return listInside(flowsDir, glob ?? '**', signal);
      },
    },
  };
}

/** Answers the path and size of what was written. */
async function writeInside(
  folder: string,
  target: string,
  path: string,
  text: string,
): Promise<{ path: string; bytes: number }> {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_FILE_BYTES) throw refused(path, `its text has ${bytes} bytes, and ${MAX_FILE_BYTES} is the most`);
  await mkdir(folder, { recursive: true });
  const parent = await madeFolder(folder, path, dirname(target));
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
  return { path, bytes };
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
