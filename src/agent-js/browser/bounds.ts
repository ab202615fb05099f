import { stretched, withDeadline } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import type { HostCallContext } from '../../script/host-module.js';

/** Waits end this long before the script's own deadline, so that the script sees WAIT_TIMEOUT (spec section 3). */
const MARGIN_MS = 100;
/**
 * What a page has not answered by then is answered without it: three threads have to wake up, one after another, before
 * the script has the answer, and on a busy machine 20 ms were too short for that.
 */
const LAST_WORD_MS = 60;
/** A page that keeps time by itself and is not heard by then hangs. */
const LATENESS_MS = stretched(2_000);

/** How long a call may take. */
export interface Bounds {
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  /** When nothing can be said to the script any more; the deadline where absent. */
  readonly end?: number;
  readonly signal: AbortSignal;
}

/** The bounds of a call that a script made: `ms` from now, stretched, and never past the script's own. */
export function boundsOf(context: HostCallContext, ms: number): Bounds {
  const now = performance.now();
  const remaining = context.remainingMs();
  const deadline = now + Math.max(0, Math.min(stretched(ms), remaining - MARGIN_MS));
  return { deadline, end: Math.max(deadline, now + remaining - LAST_WORD_MS), signal: context.signal };
}

export function remainingMs(bounds: Bounds): number {
  return Math.max(0, bounds.deadline - performance.now());
}

/** The same bounds, or tighter ones that end `ms` from now. */
export function within(bounds: Bounds, ms: number): Bounds {
  return { ...bounds, deadline: Math.min(bounds.deadline, performance.now() + ms) };
}

/**
 * The bounds for an answer of who keeps the deadline himself: he says at the deadline what is wrong, and that takes its
 * moment on a busy machine.
 */
export function toAnswer(bounds: Bounds): Bounds {
  const { deadline, end = deadline } = bounds;
  return { deadline: Math.min(end, deadline + LATENESS_MS), end, signal: bounds.signal };
}

export function throwIfCancelled(bounds: Bounds): void {
  if (bounds.signal.aborted) throw cancelledError();
}

/** What a call throws whose script was cancelled; the sandbox knows better why, and says so. */
export function cancelledError(): TroupeError {
  return new TroupeError('EVAL_TIMEOUT', 'The script was cancelled');
}

/** Settles as `work` does, or rejects as soon as the script is cancelled. */
export function cancellable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return withDeadline(work, { signal }).catch((error) => {
    throw signal.aborted ? cancelledError() : error;
  });
}
