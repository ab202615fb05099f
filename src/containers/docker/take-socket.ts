import type { Stats } from 'node:fs';
import { lstat, rename } from 'node:fs/promises';
import { basename } from 'node:path';
import { ifMissing } from '../../base/system-fault.js';
import { TroupeError } from '../../protocol/errors.js';

/** What a server gives its socket last, by its path: until then it cannot be moved. */
const READY_MODE = 0o666;

/**
 * Takes a socket out of a folder that a container may write to, `from`, to where the container reaches it no more, `to`.
 * From then on the path leads to that socket, whatever the container puts in its old place. rename(2) follows no link, a
 * socket goes on listening under its new name, and what is checked is what was moved. One that was taken before is
 * checked again.
 *
 * @param isOwner whether this is the user that the container's processes run as; whoever bound the socket owns it, and
 *   nobody in the container may change that
 * @returns false while the container has not made it, or not whole
 * @throws UNAVAILABLE where the container made something else: nothing has connected to it
 */
export async function takeSocket(from: string, to: string, isOwner: (uid: number) => boolean): Promise<boolean> {
  const name = basename(to);
  if ((await lookAt(to)) === null) {
    const found = await lookAt(from);
    // Where it is gone, somebody else may have taken it in this moment.
    if (found !== null) {
      check(found, name, isOwner);
      if ((found.mode & READY_MODE) !== READY_MODE) return false;
      await rename(from, to).catch(ifMissing);
    }
  }
  const taken = await lookAt(to);
  if (taken === null) return false;
  check(taken, name, isOwner);
  return true;
}

/** What is there, itself and not what it leads to; null where there is nothing. */
function lookAt(path: string): Promise<Stats | null> {
  return lstat(path).catch(ifMissing);
}

function check(found: Stats, name: string, isOwner: (uid: number) => boolean): void {
  const why = faultOf(found, isOwner);
  if (why === null) return;
  const message = `The container's socket "${name}" cannot be trusted: ${why}; remove the session and start another`;
  throw new TroupeError('UNAVAILABLE', message);
}

function faultOf(found: Stats, isOwner: (uid: number) => boolean): string | null {
  if (found.isSymbolicLink()) return 'there is a symbolic link in its place';
  if (found.isDirectory()) return 'there is a folder in its place';
  if (found.isFIFO()) return 'there is a FIFO in its place';
  if (!found.isSocket()) return 'there is a file in its place';
  if (found.nlink !== 1) return 'it has a second name (a hard link)';
  if (!isOwner(found.uid)) return `it belongs to user ${found.uid}, who is not the user of the container`;
  return null;
}
