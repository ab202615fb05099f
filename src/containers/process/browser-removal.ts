import { pause, stretched } from '../../base/deadline.js';
import { systemFault } from '../../base/system-fault.js';
import { TroupeError } from '../../protocol/errors.js';
import type { LeaseFolder } from './lease-folder.js';
import { isNameless, leaderOf, type ProcessLeader, processesOf } from './process-identity.js';
import { killGroup, killProcess, listProcesses, untilGone } from './process-table.js';

const REMOVAL_MS = stretched(10_000);

/** After the system refused a call, such as for too many open files. */
const RETRY_MS = 100;
/** Until a process that was nameless is looked at again. */
const NAMELESS_MS = 2;

/**
 * Kills every process of a lease and removes its folder. Settles when nothing of it is left; may be called again. What the
 * system refuses is tried again meanwhile: who stops comes only once.
 * @throws UNAVAILABLE when a process outlives its killing by 10 s; a fault of the system that lasts as long
 */
export async function removeBrowser(folder: LeaseFolder, written: ProcessLeader | null): Promise<void> {
  const end = performance.now() + REMOVAL_MS;
  for (;;) {
    try {
      return await removeOnce(folder, written, end);
    } catch (error) {
      if (systemFault(error) === null || performance.now() >= end) throw error;
      await pause(RETRY_MS);
    }
  }
}

async function removeOnce(folder: LeaseFolder, written: ProcessLeader | null, end: number): Promise<void> {
  // A folder that is gone took its note along; the browser itself still names it.
  const note = written ?? leaderOf(await listProcesses(), folder.path);
  const remaining = (): number => Math.max(0, end - performance.now());
  if (note !== null) {
    killGroup(note);
    await untilGone([note], remaining());
  }
  // Some leave the group (crash handlers), some are forked while the group dies: look until there is none. One that is
  // forked during a look, by one that ends during it, is in the next look only.
  for (let looksWithout = 0; looksWithout < 2; ) {
    const left = processesOf(await listProcesses(), folder.path, note);
    if (left.length === 0) {
      looksWithout += 1;
      continue;
    }
    looksWithout = 0;
    if (remaining() === 0) {
      const pids = left.map((entry) => entry.pid).join(', ');
      throw new TroupeError('UNAVAILABLE', `Processes ${pids} of a browser do not end`, { folder: folder.path });
    }
    const ours = left.filter((entry) => !isNameless(entry));
    for (const entry of ours) killProcess(entry);
    if (ours.length > 0) await untilGone(ours, remaining());
    else await pause(NAMELESS_MS);
  }
  await folder.remove();
}
