import type { Clock } from '../base/clock.js';
import { TroupeError } from '../protocol/errors.js';

const MINUTE_MS = 60_000;

interface Bucket {
  /** What may be begun at once; may be below 0 after many were begun together. */
  left: number;
  /** When that was so, in milliseconds. */
  atMs: number;
}

/**
 * How much each caller may begin in a minute: a bucket that holds a minute's worth and fills evenly. There is one for
 * each caller that is limited, which are as many as there are tokens.
 */
export class RateLimit {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** @throws CAPACITY, with the time until one more may be begun, when a minute's worth was begun already */
  take(caller: string, perMinute: number, count = 1): void {
    const atMs = this.#clock.now().getTime();
    const last = this.#buckets.get(caller) ?? { left: perMinute, atMs };
    const left = Math.min(perMinute, last.left + (Math.max(0, atMs - last.atMs) * perMinute) / MINUTE_MS);
    if (left < 1) {
      this.#buckets.set(caller, { left, atMs });
      const retryAfterSeconds = Math.ceil(((1 - left) * MINUTE_MS) / perMinute / 1000);
      throw new TroupeError('CAPACITY', `This token begins ${perMinute} sessions a minute`, {
        perMinute,
        retryAfterSeconds,
      });
    }
    this.#buckets.set(caller, { left: left - count, atMs });
  }
}
