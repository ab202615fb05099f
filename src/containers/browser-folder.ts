import { chmod, mkdir, realpath, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TroupeError } from '../protocol/errors.js';
import { type BrowserUser, isOwnFolder, isReachable } from './chromium/browser-user.js';

/** The folder that holds an instance's browsers, one folder each. */
export interface BrowserFolder {
  readonly path: string;
  /** Why it is not the one that was asked for, or null. */
  readonly moved: string | null;
}

/** `sun_path` is 108 bytes with its NUL (unix(7)); Chromium ends itself when its own socket's path is longer. */
const MAX_SOCKET_PATH = 107;
const SOCKET = '/tmp/org.chromium.Chromium.XXXXXX/SingletonSocket';
/** `/b-` and a lease id. */
const LEASE_ROOM = 3 + 14;
const MAX_LENGTH = MAX_SOCKET_PATH - SOCKET.length - LEASE_ROOM;

/**
 * The folder for this instance's browsers: `wanted`, or, where the browser's user cannot reach it or sockets in it would
 * have too long a path, one of the instance's own under the system's temporary folder. Both are without links.
 * @throws UNAVAILABLE when neither will do.
 */
export async function browserFolder(
  wanted: string,
  { instance, driver }: { readonly instance: string; readonly driver: 'docker' | 'process' },
  user: BrowserUser | null,
): Promise<BrowserFolder> {
  await mkdir(wanted, { recursive: true });
  const path = await realpath(wanted);
  const refused = await refusal(path, user);
  if (refused === null) return { path, moved: null };
  const instead = await temporaryFolder(instance, driver);
  await openTemporaryFolder(instead, user);
  const refusedToo = await refusal(instead, user);
  // Each browser makes it again, so that a service that starts none leaves nothing there.
  await closeTemporaryFolder(instead);
  if (refusedToo === null) return { path: instead, moved: refused };
  throw new TroupeError('UNAVAILABLE', `No folder for browsers: ${refused}, and ${refusedToo}; move TROUPE_HOME`);
}

/** Where the browsers of an instance's driver go that cannot live in its home. */
export async function temporaryFolder(instance: string, driver: 'docker' | 'process'): Promise<string> {
  return join(await realpath(tmpdir()), `troupe-${instance}${driver === 'docker' ? '-c' : ''}`);
}

/** Makes the folder under the system's temporary one, or takes the one that is there when it is ours. */
export async function openTemporaryFolder(path: string, user: BrowserUser | null): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  if (!(await isOwnFolder(path))) {
    throw new TroupeError('UNAVAILABLE', `${path} belongs to someone else, and browsers were to live there; remove it`);
  }
  // Passing through is all that the browser's user needs.
  await chmod(path, user === null ? 0o700 : 0o711);
}

/** Removes the folder when nothing is left in it. */
export async function closeTemporaryFolder(path: string): Promise<void> {
  await rmdir(path).catch(() => undefined);
}

async function refusal(path: string, user: BrowserUser | null): Promise<string | null> {
  if (Buffer.byteLength(path) > MAX_LENGTH) return `${path} is longer than ${MAX_LENGTH} bytes`;
  if (await isReachable(path, user)) return null;
  return `${path} cannot be reached by user ${user?.uid}, who runs the browsers`;
}
