import { constants } from 'node:fs';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../base/system-fault.js';
import { TroupeError } from '../../protocol/errors.js';
import { PROOF_FORM } from './service-proof.js';

/** By what clients of the same user find a running service, and recognize it. */
export interface ServiceFile {
  readonly url: string;
  readonly pid: number;
  /** Never sent: see `service-proof.ts`. */
  readonly secret: string;
  readonly version: string;
  /** The service's home, absolute, where the file may be in another folder; unknown if a version before wrote it. */
  readonly ownHome?: string | undefined;
}

const NAME = 'service.json';
const MAX_BYTES = 4096;
const OTHERS_HOME = 'name the service with --url, or another home with TROUPE_HOME';

/** The file of the service that runs for a home. */
export function serviceFileOf(home: string): string {
  return join(home, NAME);
}

/**
 * Reads the file; null if there is none, or it is not complete.
 * @throws UNAVAILABLE if it is another user's, or another user can read or write it
 */
export async function readServiceFile(home: string): Promise<ServiceFile | null> {
  const path = serviceFileOf(home);
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
    if (errorCode(error) === 'EACCES') throw distrust(`${path} belongs to another user`, OTHERS_HOME, error);
    throw new TroupeError('UNAVAILABLE', `${path} cannot be read: delete it and try again`, undefined, {
      cause: error,
    });
  });
  if (file === null) return null;
  try {
    const { size, mode, uid } = await file.stat();
    if ((mode & 0o077) !== 0) {
      throw distrust(`${path} can be read or written by other users`, 'delete the file, then restart the service');
    }
    if (process.getuid !== undefined && uid !== process.getuid()) {
      throw distrust(`${path} belongs to another user`, OTHERS_HOME);
    }
    return size > MAX_BYTES ? null : parse(await file.readFile('utf8'));
  } finally {
    await file.close();
  }
}

/** Writes the file, which only this user can read, in one step. */
export async function writeServiceFile(home: string, service: ServiceFile): Promise<void> {
  const path = serviceFileOf(home);
  const draft = `${path}.${process.pid}`;
  await rm(draft, { force: true });
  await writeFile(draft, `${JSON.stringify(service)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(draft, path);
}

/** Removes the file, unless another service has written it since. */
export async function removeServiceFile(home: string, { secret }: ServiceFile): Promise<void> {
  const path = serviceFileOf(home);
  const text = await readFile(path, 'utf8').catch(() => '');
  if (parse(text)?.secret === secret) await rm(path, { force: true });
}

function distrust(why: string, advice: string, cause?: unknown): TroupeError {
  const message = `${why}, so the service that it names is not trusted: ${advice}`;
  return new TroupeError('UNAVAILABLE', message, undefined, { cause });
}

function parse(text: string): ServiceFile | null {
  try {
    const value: unknown = JSON.parse(text);
    const { url, pid, secret, version, ownHome }: { readonly [name: string]: unknown } = Object(value);
    const isWhole =
      typeof url === 'string' &&
      /^https?:\/\/[^/?#@\s]+$/.test(url) &&
      typeof pid === 'number' &&
      Number.isSafeInteger(pid) &&
      pid > 0 &&
      typeof secret === 'string' &&
      PROOF_FORM.test(secret) &&
      typeof version === 'string';
    return isWhole ? { url, pid, secret, version, ...(typeof ownHome === 'string' ? { ownHome } : {}) } : null;
  } catch {
    return null;
  }
}
