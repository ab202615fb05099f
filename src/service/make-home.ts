import { mkdir, mkdtemp, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, systemFault } from '../base/system-fault.js';
import type { Config } from '../config.js';
import { TroupeError } from '../protocol/errors.js';

type Home = Pick<Config, 'home' | 'flowsDir' | 'sessionsDir' | 'tmpDir' | 'journalFile' | 'keyFile'>;

/**
 * Creates the service's folders if they are missing. Session data is accessible only to the service's user.
 * @throws UNAVAILABLE with the path that cannot be used, and what to do
 */
export async function makeHome({ home, flowsDir, sessionsDir, tmpDir, journalFile, keyFile }: Home): Promise<void> {
  await makeFolder(home, undefined, 'set TROUPE_HOME to a folder that this user may write to');
  await Promise.all([
    makeFolder(flowsDir),
    makeFolder(sessionsDir, 0o700),
    makeFolder(tmpDir),
    assertFile(journalFile),
    assertFile(keyFile),
  ]);
}

async function makeFolder(path: string, mode?: number, remedy?: string): Promise<void> {
  try {
    await makeAll(path, mode);
    // Test by writing: even if the mode allows it, the file system may be read-only or full.
    const probe = await mkdtemp(join(path, '.probe-'));
    // Repeated, so that a single disk error leaves nothing behind.
    await rmdir(probe).catch(() => rmdir(probe));
  } catch (cause) {
    throw await unusable(path, cause, remedy);
  }
}

/**
 * Like `mkdir` with `recursive`, which loops forever if a folder can be read but nothing can be created in it, as in
 * /proc.
 */
async function makeAll(path: string, mode?: number): Promise<void> {
  const make = () => mkdir(path, mode).catch((error: unknown) => error);
  let fault = await make();
  if (errorCode(fault) === 'ENOENT' && dirname(path) !== path) {
    await makeAll(dirname(path));
    fault = await make();
  }
  const isThere = errorCode(fault) === 'EEXIST' && (await stat(path).catch(() => null))?.isDirectory() === true;
  if (fault !== undefined && !isThere) throw fault;
}

/** Checks a file that may be missing. */
async function assertFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found === null || found.isFile()) return;
  const what = found.isDirectory() ? 'a folder' : 'not a regular file';
  throw new TroupeError('UNAVAILABLE', `${path} must be a file, but is ${what}: move it away and start again`);
}

/** Explains why a folder cannot be used, by the file system's error code. */
async function unusable(path: string, cause: unknown, remedy: string | undefined): Promise<TroupeError> {
  const code = errorCode(cause);
  const fault = systemFault(cause);
  const refused = (why: string) => new TroupeError('UNAVAILABLE', `${path} ${why}`, undefined, { cause });
  const sentence = (why: string, what: string) => refused(`${why}: ${remedy ?? what}`);
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR': {
      const file = await fileOn(path);
      return sentence(
        file === path ? 'must be a folder, but is a file' : `cannot be created, because ${file} is a file`,
        'move the file away and start again',
      );
    }
    case 'EACCES':
    case 'EPERM':
      return sentence(
        'cannot be written by this user',
        'change its owner or mode, or set TROUPE_HOME to another folder',
      );
    case 'EROFS':
      return sentence('is on a read-only file system', 'mount it for writing, or set TROUPE_HOME to another folder');
    case 'ENOSPC':
    case 'EDQUOT':
      return refused(
        'cannot be created, because the disk is full: free disk space, or set TROUPE_HOME to another folder',
      );
    default:
      if (fault !== null) return refused(`cannot be used. ${fault.sentence}`);
      return sentence(
        `cannot be created (${typeof code === 'string' ? code : String(cause)})`,
        'set TROUPE_HOME to a folder that this user may write to',
      );
  }
}

/** The part of a path that exists and is not a folder. */
async function fileOn(path: string): Promise<string> {
  for (let part = path; part !== dirname(part); part = dirname(part)) {
    const found = await stat(part).catch(() => null);
    if (found !== null) return part;
  }
  return path;
}
