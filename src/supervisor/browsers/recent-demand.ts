/** How far back demand counts. */
const MEMORY_MS = 60_000;
/** Creates within this time count as simultaneous: a pool cannot be refilled between them. */
const BURST_MS = 2_000;
/** The most creates that are remembered; the oldest are dropped. */
const MAX_REMEMBERED = 1_000;

/** Measures how many creates arrive at once: the largest number within two seconds, during the last minute. */
export class RecentDemand {
  #times: number[] = [];

  /** @param now milliseconds of any monotonic clock; the same clock for all calls */
  note(now: number): void {
    this.#times.push(now);
    if (this.#times.length > MAX_REMEMBERED) this.#times.shift();
  }

  peak(now: number): number {
    this.#times = this.#times.filter((time) => now - time < MEMORY_MS);
    let peak = 0;
    let first = 0;
    for (const [index, time] of this.#times.entries()) {
      while (time - (this.#times[first] ?? time) > BURST_MS) first += 1;
      peak = Math.max(peak, index - first + 1);
    }
    return peak;
  }
}
