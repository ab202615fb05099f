import { constants, fstat, readFile } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { errorCode } from '../../base/system-fault.js';
import { withFile } from '../../files/thread-files.js';
import { TroupeError } from '../../protocol/errors.js';

/** The longest file that is read or written, in bytes. */
export const MAX_FILE_BYTES = 1024 * 1024;
/** Longer paths are no names that a person gives. */
const MAX_PATH = 500;
const MAX_SEGMENT = 200;

const statOf = promisify(fstat);
const textOf = promisify(readFile);

/**
 * The absolute path of `path` in the flows folder. Forward slashes; `../` is allowed, everything that could lead out is
 * not. Links are looked at by {@link realInside}.
 *
 * @throws SCRIPT_ERROR that says what is wrong with the path.
 */
export function pathInside(folder: string, path: unknown): string {
  if (typeof path !== 'string' || path === '') throw refused(path, 'a path is a text like "shop/login"');
  if (path.length > MAX_PATH) throw refused(path, `it is longer than ${MAX_PATH} characters`);
  if (/[\p{Cc}\p{Cs}]/u.test(path)) throw refused(path, 'it has a control character, or half a character');
  if (path.includes('\\')) throw refused(path, 'folders are separated by /');
  if (isAbsolute(path) || /^[a-z]:/i.test(path)) throw refused(path, 'it is not relative to the flows folder');
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) throw refused(path, 'it leads out of the flows folder');
  if (segments.some((segment) => Buffer.byteLength(segment) > MAX_SEGMENT)) {
    throw refused(path, `a name in it is longer than ${MAX_SEGMENT} bytes`);
  }
  if (segments.length === 0) throw refused(path, 'it names the flows folder itself');
  // What programs keep for themselves: hooks of git, credentials in .env.
  if (segments.some((segment) => segment.startsWith('.'))) throw refused(path, 'a name in it begins with a dot');
  return join(folder, ...segments);
}

/** What some system that the folder may be copied to takes for another name, or for a device. */
const NOT_PORTABLE = /[<>:"|?*]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * The same for something that is to be made: a name that only some systems can have is refused too.
 *
 * @throws SCRIPT_ERROR that says what is wrong with the path.
 */
export function newPathInside(folder: string, path: unknown): string {
  const absolute = pathInside(folder, path);
  const name = String(path)
    .split('/')
    .find((segment) => segment !== '.' && NOT_PORTABLE.test(segment));
  if (name === undefined) return absolute;
  throw refused(
    path,
    `${JSON.stringify(name.slice(0, 100))} is not a valid name on every system: it ends with a dot or a space, has one of <>:"|?*, or is a device's`,
  );
}

/**
 * The real path of something that exists, links followed.
 *
 * @throws SCRIPT_ERROR when it lies outside of the folder; what `realpath` throws when it does not exist.
 */
export async function realInside(folder: string, path: string, absolute: string): Promise<string> {
  const [root, real] = await Promise.all([realpath(folder), realpath(absolute)]);
  const way = relative(root, real);
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) {
    throw refused(path, 'a link in it leads out of the flows folder');
  }
  return real;
}

/**
 * The text of a file in the folder; null when there is no such file.
 *
 * @throws SCRIPT_ERROR for a path that leads out, and for a file of more than `maxBytes`.
 */
export async function readInside(folder: string, path: string, maxBytes: number): Promise<string | null> {
  try {
    const real = await realInside(folder, path, pathInside(folder, path));
    // The real path holds no link, so one that is put there in this moment is refused.
    return await withFile(
      real,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      async (descriptor) => {
        const stat = await statOf(descriptor);
        if (!stat.isFile()) return null;
        if (stat.size > maxBytes) throw refused(path, `it has ${stat.size} bytes, and ${maxBytes} is the most`);
        return textOf(descriptor, 'utf8');
      },
    );
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** SCRIPT_ERROR for a path that the flows folder does not take. */
export function refused(path: unknown, why: string): TroupeError {
  const shown = (JSON.stringify(path) ?? 'undefined').slice(0, 200);
  return new TroupeError('SCRIPT_ERROR', `The path ${shown} is refused: ${why}`);
}

/** True for an error that says that a path, or a folder on its way, does not exist. */
export function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'EISDIR';
}
