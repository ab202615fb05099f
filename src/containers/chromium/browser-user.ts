import { lstat, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The normal user that browsers run as when the service itself is root. No account is needed for it. */
export interface BrowserUser {
  readonly uid: number;
  readonly gid: number;
}

/** The first normal user of a Linux machine. */
const FIRST_NORMAL_USER: BrowserUser = { uid: 1000, gid: 1000 };

/**
 * Who browsers run as: null is the service's own user. Root gives them to `preferred` (whoever called sudo) or to the
 * first normal user, since Chromium keeps its sandbox only as a normal user.
 */
export function browserUser(preferred: BrowserUser | undefined): BrowserUser | null {
  if (process.geteuid?.() !== 0) return null;
  return preferred !== undefined && preferred.uid !== 0 ? preferred : FIRST_NORMAL_USER;
}

/** Whether `user` may pass through `path` and every folder above it. `path` is absolute, exists and has no links in it. */
export async function isReachable(path: string, user: BrowserUser | null): Promise<boolean> {
  if (user === null) return true;
  for (let folder = path; ; folder = dirname(folder)) {
    const { uid, gid, mode } = await stat(folder);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

/** Whether `path` is a real folder of this process's user that no one else can write to: safe under a shared /tmp. */
export async function isOwnFolder(path: string): Promise<boolean> {
  const found = await lstat(path);
  return found.isDirectory() && found.uid === process.geteuid?.() && (found.mode & 0o022) === 0;
}
