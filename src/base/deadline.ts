import { type Clock, systemClock } from './clock.js';

/**
 * How many times longer limits are than they say. Tests run several services on a few cores, and no limit of theirs
 * should end work that is only slow: their runner gives a factor. Otherwise it is 1.
 */
const FACTOR = readFactor();

function readFactor(): number {
  // Every thread has Node's environment data, also one that is started without environment variables. A page has none.
  const threads = globalThis.process?.getBuiltinModule?.('node:worker_threads');
  const given = threads?.getEnvironmentData('troupe.deadlineFactor');
  return typeof given === 'number' && given > 1 && Number.isFinite(given) ? given : 1;
}

/**
 * The length of a limit that is not one of the waits below, which stretch theirs themselves. What is left of a limit is
 * not stretched again.
 * @param clock a clock that was injected says what time it is, so its limits stay as they are
 */
export function stretched(ms: number, clock: Clock = systemClock): number {
  return clock === systemClock && FACTOR !== 1 ? Math.ceil(ms * FACTOR) : ms;
}

/** The length of a limit that ends `ms` from now, for what is left of one and is passed on as another. */
export function unstretched(ms: number): number {
  return ms / FACTOR;
}

/** Calls `late` when the limit is over. The returned function cancels it, and may be called at any time. */
export function startLimit(ms: number, late: () => void, clock: Clock = systemClock): () => void {
  return clock.after(stretched(ms, clock), late);
}

/** A signal that is aborted with a `TimeoutError` when the limit is over. Not for `AbortSignal.any()`: {@link withSignal}. */
export function limitSignal(ms: number): AbortSignal {
  return AbortSignal.timeout(stretched(ms));
}

/** The limits of a wait. Its timer and its listener are removed when the wait ends, for whatever reason. */
export interface WaitBounds {
  /** Rejects the wait with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds after which the wait rejects, {@link stretched}; if omitted, only the signal ends it. */
  readonly ms?: number | undefined;
  /** Creates the error for the rejection after `ms`. */
  readonly late?: () => Error;
  readonly clock?: Clock;
}

function tooLate(): Error {
  return new Error('It did not end in time');
}

/**
 * A promise that `begin` or the bounds settle.
 * @param begin not called if the signal is already aborted; the function that it returns is called once when the wait
 *  ends, in the same turn
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
    const cancelTimer = ms === undefined ? undefined : startLimit(ms, () => end(() => reject(late())), clock);
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

/** Settles like `work`, unless the bounds end the wait; the work itself continues. */
export function withDeadline<T>(work: Promise<T>, bounds: WaitBounds): Promise<T> {
  // The wait may end before the work fails.
  work.catch(() => undefined);
  return boundedWait(bounds, (resolve, reject) => void work.then(resolve, reject));
}

/** Whether `work` settles within `ms`, {@link stretched}, successfully or not; it continues in any case. */
export function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true,
  );
  return withDeadline(settled, { ms }).catch(() => false);
}

/** Resolves after `ms`; no limit, so never stretched. Rejects with the signal's reason. */
export function pause(
  ms: number,
  { signal, clock = systemClock }: Pick<WaitBounds, 'signal' | 'clock'> = {},
): Promise<void> {
  return boundedWait({ signal }, (resolve) => clock.after(ms, resolve));
}

/**
 * Calls `listener` when the signal is aborted, or at once if it already is. The returned function removes the listener.
 */
export function onAbort(signal: AbortSignal, listener: () => unknown): () => void {
  const abort = () => void listener();
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return () => signal.removeEventListener('abort', abort);
}

/**
 * Runs the work with a signal that is aborted with the reason of one of `signals`, or after `ms` with `late`. The work
 * decides how it then ends. Use this instead of `AbortSignal.timeout()` inside `AbortSignal.any()`, which holds its
 * sources
 * weakly: such a time limit can be garbage-collected before it is reached.
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
  const controller = new AbortController();
  const removeListeners = signals.map((signal) => onAbort(signal, () => controller.abort(signal.reason)));
  const cancelTimer = ms === undefined ? undefined : startLimit(ms, () => controller.abort(late()), clock);
  try {
    return await work(controller.signal);
  } finally {
    cancelTimer?.();
    for (const off of removeListeners) off();
  }
}

/** Lets callers wait until something changes; they check the condition themselves. */
export class Wakeups {
  readonly #waiting = new Set<() => void>();

  get size(): number {
    return this.#waiting.size;
  }

  wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves at the next {@link wake}, or when the signal is aborted. Never rejects. */
  next(signal: AbortSignal): Promise<void> {
    return boundedWait<void>({ signal }, (resolve) => {
      this.#waiting.add(resolve);
      return () => this.#waiting.delete(resolve);
    }).catch(() => undefined);
  }
}
