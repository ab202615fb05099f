const BUCKET_MS = 1_000;
const DEFAULT_BOUND = 100_000;

/**
 * Remembers nonces for as long as their messages are valid, so that each message is accepted once. Bounded: what is
 * forgotten, because of its age or for room, raises a floor, and messages from before the floor are refused. So neither a
 * flood nor a clock that is set back makes a message acceptable a second time.
 */
export class NonceMemory {
  readonly #validMs: number;
  readonly #bound: number;
  /** By the second of the message. */
  readonly #buckets = new Map<number, Set<string>>();
  #size = 0;
  #floor = Number.NEGATIVE_INFINITY;

  /** @param bound how many nonces are kept */
  constructor(validMs: number, bound = DEFAULT_BOUND) {
    this.#validMs = validMs;
    this.#bound = bound;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * True once for each nonce. The message must be authentic, and valid at `nowMs`.
   * @param time when the message was made, in milliseconds
   */
  accept(nonce: string, time: number, nowMs: number): boolean {
    this.#forget(Math.floor((nowMs - this.#validMs) / BUCKET_MS) - 1);
    const second = Math.floor(time / BUCKET_MS);
    if (second <= this.#floor) return false;
    const bucket = this.#buckets.get(second) ?? new Set<string>();
    if (bucket.has(nonce)) return false;
    if (this.#size >= this.#bound) {
      this.#forget(Math.min(second, ...this.#buckets.keys()));
      if (second <= this.#floor) return false;
    }
    this.#buckets.set(second, bucket.add(nonce));
    this.#size += 1;
    return true;
  }

  /** Forgets all messages up to this second, for good. */
  #forget(second: number): void {
    for (const [known, bucket] of this.#buckets) {
      if (known > second) continue;
      this.#buckets.delete(known);
      this.#size -= bucket.size;
      // Only what was kept raises the floor: a clock that is corrected after a step ahead refuses nothing.
      this.#floor = Math.max(this.#floor, known);
    }
  }
}
