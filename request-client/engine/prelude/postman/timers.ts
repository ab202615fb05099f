import type { Host } from '#troupe/script/prelude/engine.js';

interface Timer {
  readonly id: number;
  readonly run: () => void;
  readonly everyMs: number | null;
  due: number;
}

export interface Timers {
  /** The functions that scripts see. */
  readonly globals: Readonly<Record<string, (...args: unknown[]) => unknown>>;
  /** Calls `run` once when the script has nothing else to do. */
  later(run: () => void): void;
  /** Waits for the next timer and runs it; false if there is none. */
  next(): boolean;
  clear(): void;
}

/** More are refused: each is kept until it runs. */
const MAX_TIMERS = 10_000;

/** Timers of scripts, in the order of their times. `failed` gets what a callback throws. */
export function makeTimers(host: Host, failed: (error: unknown) => void): Timers {
  const waiting = new Map<number, Timer>();
  let count = 0;
  const start = (run: () => void, delay: unknown, repeats: boolean): number => {
    if (waiting.size >= MAX_TIMERS) throw new RangeError(`More than ${MAX_TIMERS} timers are waiting`);
    count += 1;
    const ms = Math.max(repeats ? 1 : 0, Number(delay) || 0);
    waiting.set(count, { id: count, run, everyMs: repeats ? ms : null, due: Date.now() + ms });
    return count;
  };
  const setter =
    (repeats: boolean, immediate = false) =>
    (callback: unknown, ...rest: unknown[]): number => {
      if (typeof callback !== 'function') throw new TypeError('A timer needs a function');
      const [delay, args] = immediate ? [0, rest] : [rest[0], rest.slice(1)];
      return start(() => void callback(...args), delay, repeats);
    };
  const clear = (id: unknown): void => void waiting.delete(Number(id));
  return {
    globals: {
      setTimeout: setter(false),
      setInterval: setter(true),
      setImmediate: setter(false, true),
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    },
    later: (run) => void start(run, 0, false),
    next() {
      let first: Timer | null = null;
      for (const timer of waiting.values()) if (first === null || timer.due < first.due) first = timer;
      if (first === null) return false;
      const wait = first.due - Date.now();
      if (wait > 0) host('sleep', wait);
      if (first.everyMs === null) waiting.delete(first.id);
      else first.due = Date.now() + first.everyMs;
      try {
        first.run();
      } catch (error) {
        failed(error);
      }
      return true;
    },
    clear: () => waiting.clear(),
  };
}
