import { boundedWait } from '../base/deadline.js';
import { TroupeError } from '../protocol/errors.js';

/** More than this many wait in no sensible use: further ones are refused. */
const MAX_WAITING = 1_000;

/** Lets so many through at a time; the others wait in order. Holds no one past their signal. */
export class StartGate {
  readonly #places: number;
  readonly #waiting = new Set<() => void>();
  #inside = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /**
   * Settles with the function that gives the place back (idempotent). Rejects with the signal's reason.
   * @throws UNAVAILABLE when the queue is full.
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#inside >= this.#places) await this.#wait(signal);
    else this.#inside += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const [next] = this.#waiting;
      // A place that goes to the next one in the queue is never free in between.
      if (next === undefined) this.#inside -= 1;
      else next();
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= MAX_WAITING) {
      return Promise.reject(new TroupeError('UNAVAILABLE', 'Too many browsers are waiting to be started'));
    }
    return boundedWait({ signal }, (admit) => {
      this.#waiting.add(admit);
      return () => this.#waiting.delete(admit);
    });
  }
}
