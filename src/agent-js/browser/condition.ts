import { type Bounds, cancelledError, remainingMs } from './bounds.js';

interface Waiter {
  holds(): boolean;
  settle(): void;
}

/** A wait that its owner may lose interest in: `stop` settles it with false. Idempotent. */
export interface Watch {
  readonly settled: Promise<boolean>;
  stop(): void;
}

/**
 * State that others wait on: whoever changes the state calls {@link Condition.changed}, and each waiter looks again.
 * Nobody polls.
 */
export class Condition {
  readonly #waiters = new Set<Waiter>();

  changed(): void {
    for (const waiter of [...this.#waiters]) if (waiter.holds()) waiter.settle();
  }

  /** True once `holds()` does, false at the deadline. Rejects when the script is cancelled, or when `holds` throws. */
  until(holds: () => boolean, bounds: Bounds): Promise<boolean> {
    return this.watch(holds, bounds).settled;
  }

  /** As {@link Condition.until}, for one that may lose interest. */
  watch(holds: () => boolean, bounds: Bounds): Watch {
    let stop = (): void => undefined;
    const settled = new Promise<boolean>((resolve, reject) => {
      if (bounds.signal.aborted) return reject(cancelledError());
      if (holds()) return resolve(true);
      const finish = (end: () => void): void => {
        clearTimeout(timer);
        bounds.signal.removeEventListener('abort', abort);
        this.#waiters.delete(waiter);
        end();
      };
      const waiter: Waiter = {
        holds: () => {
          try {
            return holds();
          } catch (error) {
            finish(() => reject(error));
            return false;
          }
        },
        settle: () => finish(() => resolve(true)),
      };
      const abort = () => finish(() => reject(cancelledError()));
      stop = () => finish(() => resolve(false));
      const timer = setTimeout(stop, remainingMs(bounds));
      bounds.signal.addEventListener('abort', abort, { once: true });
      this.#waiters.add(waiter);
    });
    return { settled, stop: () => stop() };
  }
}
