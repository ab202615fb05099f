import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Where cores are short, a browser gets a third of what the service would get beside it (nice(1)). */
const NICE = 5;
/** The same for a container, where 1024 is usual. */
export const CPU_SHARES = 341;

/**
 * Has a browser, and every process that it starts, give way to the service, so that a session's answer does not wait for
 * pages that draw and compute. Called right after its start, while it has one thread. A browser is a session of its own,
 * and Linux may count each of those as one (sched(7), autogroup): then twenty browsers would have twenty times the
 * service's part. Where it is not allowed, or there are no such groups, all goes on as before.
 */
export function lowerPriority(pid: number): void {
  attempt(() => setPriority(pid, NICE));
  attempt(() => writeFileSync(`/proc/${pid}/autogroup`, String(NICE)));
}

function attempt(set: () => void): void {
  try {
    set();
  } catch {
    // A browser of usual priority is a browser.
  }
}
