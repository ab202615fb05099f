import type { Clock } from '../../base/clock.js';

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
/** After this time an outage is one that lasts: it is tried less often. */
const PATIENCE_MS = 10 * 60_000;
const SLOW_MS = 5 * 60_000;

/** When something that failed is tried again: for ten minutes at most every 30 s, then every five minutes. */
export class UploadPace {
  readonly #clock: Clock;
  #failingSince: number | null = null;
  #attempts = 0;
  #nextAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isFailing(): boolean {
    return this.#failingSince !== null;
  }

  /** Milliseconds until the next attempt. */
  get waitMs(): number {
    return Math.max(0, this.#nextAt - this.#now());
  }

  /** Returns whether this is the first failure, or the first after ten minutes: worth a line of the log. */
  failed(): 'first' | 'lasting' | null {
    const now = this.#now();
    const first = this.#failingSince === null;
    this.#failingSince ??= now;
    const before = this.#nextAt;
    const isLasting = now - this.#failingSince >= PATIENCE_MS;
    this.#nextAt = now + (isLasting ? SLOW_MS : Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#attempts));
    this.#attempts = Math.min(this.#attempts + 1, 10);
    if (first) return 'first';
    return isLasting && before - this.#failingSince < PATIENCE_MS + LONGEST_MS ? 'lasting' : null;
  }

  /** Returns whether it had failed. */
  succeeded(): boolean {
    const had = this.isFailing;
    this.#failingSince = null;
    this.#attempts = 0;
    this.#nextAt = 0;
    return had;
  }

  #now(): number {
    return this.#clock.now().getTime();
  }
}
