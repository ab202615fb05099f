import { type Clock, systemClock } from './clock.js';

/** What ends a wait before it is settled. Its timer and its listener are gone when the wait is over, however it ended. */
export interface WaitBounds {
  /** Rejects the wait with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds after which the wait rejects; without it only the signal ends it. */
  readonly ms?: number | undefined;
  /** What the wait rejects with after `ms`. */
  readonly late?: () => Error;
  readonly clock?: Clock;
}

function tooLate(): Error {
  return new Error('It did not end in time');
}

/**
 * A wait that `begin` settles, or its bounds do.
 * @param begin is not called if the signal is aborted already; what it returns is called once when the wait is over, in
 *   the same turn
 */
export function boundedWait<T>(
  { signal, ms, late = tooLate, clock = systemClock }: WaitBounds,
  begin: (resolve: (value: T) => void, reject: (error: unknown) => void) => (() => unknown) | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    let over = false;
    let leave: (() => unknown) | undefined;
    const end = (settle: () => void) => {
      if (over) return;
      over = true;
      cancelTimer?.();
      signal?.removeEventListener('abort', abort);
      leave?.();
      settle();
    };
    const abort = () => end(() => reject(signal?.reason));
    const cancelTimer = ms === undefined ? undefined : clock.after(ms, () => end(() => reject(late())));
    signal?.addEventListener('abort', abort, { once: true });
    const fail = (error: unknown) => end(() => reject(error));
    try {
      leave = begin((value) => end(() => resolve(value)), fail);
      if (over) leave?.();
    } catch (error) {
      fail(error);
    }
  });
}

/** Settles as `work` does, unless the bounds end the wait for it; the work itself goes on. */
export function withDeadline<T>(work: Promise<T>, bounds: WaitBounds): Promise<T> {
  // Nobody may be left to hear how it fails.
  work.catch(() => undefined);
  return boundedWait(bounds, (resolve, reject) => void work.then(resolve, reject));
}

/** Whether `work` settles within `ms`, well or not; it goes on in any case. */
export function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true,
  );
  return withDeadline(settled, { ms }).catch(() => false);
}

/** Settles after `ms`, on the clock given. Rejects with the signal's reason. */
export function pause(
  ms: number,
  { signal, clock = systemClock }: Pick<WaitBounds, 'signal' | 'clock'> = {},
): Promise<void> {
  return boundedWait({ signal }, (resolve) => clock.after(ms, resolve));
}

/** Calls `listener` when the signal is aborted, at once if it is already. The function answered takes it off again. */
export function onAbort(signal: AbortSignal, listener: () => unknown): () => void {
  const abort = () => void listener();
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return () => signal.removeEventListener('abort', abort);
}

/**
 * Does the work with a signal that is aborted with the reason of one of `signals`, or after `ms` with `late`. The work decides how it
 * ends then. Use this rather than `AbortSignal.timeout()` inside `AbortSignal.any()`, which holds its sources weakly: such
 * a time limit can be collected before it is reached.
 */
export async function withSignal<T>(
  {
    signals,
    ms,
    late = tooLate,
    clock = systemClock,
  }: Omit<WaitBounds, 'signal'> & { readonly signals: readonly AbortSignal[] },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const cut = new AbortController();
  const forget = signals.map((signal) => onAbort(signal, () => cut.abort(signal.reason)));
  const cancelTimer = ms === undefined ? undefined : clock.after(ms, () => cut.abort(late()));
  try {
    return await work(cut.signal);
  } finally {
    cancelTimer?.();
    for (const off of forget) off();
  }
}

/** Those who wait until something changes, and then look for themselves. */
export class Wakeups {
  readonly #waiting = new Set<() => void>();

  get size(): number {
    return this.#waiting.size;
  }

  wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Settles with the next {@link wake}, or with the signal. Never rejects. */
  next(signal: AbortSignal): Promise<void> {
    return boundedWait<void>({ signal }, (resolve) => {
      this.#waiting.add(resolve);
      return () => this.#waiting.delete(resolve);
    }).catch(() => undefined);
  }
}
