import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pause } from '../../base/deadline.js';
import { asAbsent } from '../../base/system-fault.js';

/** A process as /proc showed it at one moment (proc(5), `stat`). */
export interface ProcessEntry {
  readonly pid: number;
  readonly group: number;
  readonly session: number;
  /** When it started, in clock ticks since boot: with the pid this names one process, even after pids were reused. */
  readonly startTicks: number;
  /** The command line as the kernel has it; arguments end with NUL, or with a space where the process rewrote them. */
  readonly commandLine: string;
}

/** One process and when it started. */
export type ProcessKey = Pick<ProcessEntry, 'pid' | 'startTicks'>;

/** So many are read before other work of this thread gets a turn: about half a millisecond. */
const SLICE = 32;

/**
 * The process with this pid, or null when there is none. One that has ended and was not reaped yet is none.
 * @throws a fault of the system, such as too many open files: whether it runs is not known then
 */
export function readProcess(pid: number): ProcessEntry | null {
  // Reading synchronously costs 15 us; through the thread pool it would be five hops and more CPU.
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name stands in parentheses and may hold anything, parentheses too: the fields begin after the last one.
    const [state, , group, session, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return null;
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return { pid, group: Number(group), session: Number(session), startTicks: Number(rest[15]), commandLine };
  } catch (error) {
    // It ended between two of these lines, or never was.
    return asAbsent(error);
  }
}

/** Whether this very process still runs. @throws as {@link readProcess} */
export function isRunning(key: ProcessKey): boolean {
  return readProcess(key.pid)?.startTicks === key.startTicks;
}

/** Kills this very process and no other that may have its pid now. */
export function killProcess(key: ProcessKey): void {
  if (isRunning(key)) kill(key.pid);
}

/** Kills the whole group that this process leads, when it still is this very process. */
export function killGroup(leader: ProcessKey): void {
  if (isRunning(leader)) kill(-leader.pid);
}

/** Settles when none of these runs any more, or with those that still do when the time is up. */
export async function untilGone(keys: readonly ProcessKey[], timeoutMs: number): Promise<readonly ProcessKey[]> {
  const end = performance.now() + timeoutMs;
  let left = keys.filter(isRunning);
  for (let waitMs = 2; left.length > 0 && performance.now() < end; waitMs = Math.min(waitMs * 2, 50)) {
    await pause(waitMs);
    left = left.filter(isRunning);
  }
  return left;
}

let running: Promise<readonly ProcessEntry[]> | null = null;
let following: Promise<readonly ProcessEntry[]> | null = null;

/** Every process of the machine, read after this call. Callers that come during a scan share the one after it. */
export function listProcesses(): Promise<readonly ProcessEntry[]> {
  if (running === null) {
    running = scan().finally(() => {
      running = null;
    });
    return running;
  }
  following ??= running
    .catch(() => undefined)
    .then(() => {
      following = null;
      return listProcesses();
    });
  return following;
}

async function scan(): Promise<readonly ProcessEntry[]> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found: ProcessEntry[] = [];
  for (const [index, pid] of pids.entries()) {
    if (index % SLICE === SLICE - 1) await nextTurn();
    const entry = readProcess(Number(pid));
    if (entry !== null) found.push(entry);
  }
  return found;
}

function kill(target: number): void {
  try {
    process.kill(target, 'SIGKILL');
  } catch {
    // Already gone.
  }
}
