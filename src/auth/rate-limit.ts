import type { Clock } from '../base/clock.js';
import { TroupeError } from '../protocol/errors.js';

const MINUTE_MS = 60_000;

interface Bucket {
  /** Starts left; below 0 after several were started together. */
  left: number;
  /** When `left` was computed, in milliseconds. */
  atMs: number;
}

/**
 * Limits the starts of each caller per minute, with a token bucket that holds one minute's worth and fills evenly.
 * There is a bucket for each limited caller that has started a session.
 */
export class RateLimit {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** @throws CAPACITY, with the time until the next start is allowed, if the bucket is empty */
  take(caller: string, perMinute: number, count = 1): void {
    const atMs = this.#clock.now().getTime();
    const last = this.#buckets.get(caller) ?? { left: perMinute, atMs };
    const left = Math.min(perMinute, last.left + (Math.max(0, atMs - last.atMs) * perMinute) / MINUTE_MS);
    if (left < 1) {
      this.#buckets.set(caller, { left, atMs });
      const retryAfterSeconds = Math.ceil(((1 - left) * MINUTE_MS) / perMinute / 1000);
      throw new TroupeError(
        'CAPACITY',
        `This token may start at most ${perMinute} sessions a minute; try again later`,
        {
          perMinute,
          retryAfterSeconds,
        },
      );
    }
    this.#buckets.set(caller, { left: left - count, atMs });
  }
}
