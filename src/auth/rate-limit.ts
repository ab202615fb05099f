import type { Clock } from '../base/clock.js';
import { TroupeError } from '../protocol/errors.js';

const MINUTE_MS = 60_000;

interface Bucket {
  /** Starts left; below 0 after several were started together. */
  left: number;
  /** When `left` was computed, in milliseconds. */
  atMs: number;
  /** When it is full again, and so as good as none. */
  fullAtMs: number;
}

/**
 * Limits the starts of each caller per minute, with a token bucket that holds one minute's worth and fills evenly.
 * There is a bucket for each limited caller that has started a session within the last minutes.
 */
export class RateLimit {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #buckets = new Map<string, Bucket>();
  #sweptAtMs = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** How many buckets are held. */
  get size(): number {
    return this.#buckets.size;
  }

  /** @throws CAPACITY, with the time until the next start is allowed, if the bucket is empty */
  take(caller: string, perMinute: number, count = 1): void {
    const atMs = this.#clock.now().getTime();
    this.#sweep(atMs);
    const last = this.#buckets.get(caller) ?? { left: perMinute, atMs };
    const left = Math.min(perMinute, last.left + (Math.max(0, atMs - last.atMs) * perMinute) / MINUTE_MS);
    if (left < 1) {
      this.#set(caller, left, perMinute, atMs);
      const retryAfterSeconds = Math.ceil(((1 - left) * MINUTE_MS) / perMinute / 1000);
      throw tooManyStarts(perMinute, retryAfterSeconds);
    }
    this.#set(caller, left - count, perMinute, atMs);
  }

  #set(caller: string, left: number, perMinute: number, atMs: number): void {
    this.#buckets.set(caller, { left, atMs, fullAtMs: atMs + ((perMinute - left) * MINUTE_MS) / perMinute });
  }

  /** Removes full buckets once a minute: those of callers that start nothing any more, revoked tokens among them. */
  #sweep(atMs: number): void {
    if (Math.abs(atMs - this.#sweptAtMs) < MINUTE_MS) return;
    this.#sweptAtMs = atMs;
    for (const [caller, { fullAtMs }] of this.#buckets) if (fullAtMs <= atMs) this.#buckets.delete(caller);
  }
}

export function tooManyStarts(perMinute: number, retryAfterSeconds: number): TroupeError {
  const message = `This token may start at most ${perMinute} sessions a minute; try again later`;
  return new TroupeError('CAPACITY', message, { perMinute, retryAfterSeconds });
}
