import type { Clock } from '../base/clock.js';
import { startLimit } from '../base/deadline.js';

export interface HeartbeatOptions {
  readonly everyMs: number;
  /** Consecutive beats without an answer after which the other side counts as hanging. */
  readonly misses: number;
}

/** 10 s: generous, because ending a thread ends all its actors. */
export const DEFAULT_HEARTBEAT: HeartbeatOptions = { everyMs: 1_000, misses: 10 };

/**
 * Pings the other side, one ping at a time, and calls `onHang` once if it does not answer.
 *
 * Missed beats are counted, not time: the next beat is scheduled only when the last has run, so a stall of the owner's
 * own event loop, or a machine that slept, counts as one beat and is not blamed on the other side.
 */
export class Heartbeat {
  readonly #clock: Clock;
  readonly #options: HeartbeatOptions;
  readonly #ping: () => Promise<unknown>;
  readonly #onHang: () => void;
  #cancel: () => void = () => undefined;
  #waiting = false;
  #missed = 0;
  #stopped = false;

  /** @param ping a rejection counts as no answer */
  constructor(clock: Clock, options: HeartbeatOptions, ping: () => Promise<unknown>, onHang: () => void) {
    this.#clock = clock;
    this.#options = options;
    this.#ping = ping;
    this.#onHang = onHang;
    this.#schedule();
  }

  /** Idempotent. */
  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #schedule(): void {
    if (!this.#stopped) this.#cancel = startLimit(this.#options.everyMs, () => this.#beat(), this.#clock);
  }

  #beat(): void {
    if (!this.#waiting) {
      this.#send();
      this.#schedule();
      return;
    }
    this.#missed += 1;
    if (this.#missed < this.#options.misses) {
      this.#schedule();
      return;
    }
    this.stop();
    this.#onHang();
  }

  #send(): void {
    this.#waiting = true;
    this.#ping().then(
      () => {
        this.#waiting = false;
        this.#missed = 0;
      },
      () => undefined,
    );
  }
}
