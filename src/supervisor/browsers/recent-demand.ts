/** How far back demand counts. */
const MEMORY_MS = 60_000;
/** Creates so close together come at once: a pool cannot be refilled between them. */
const BURST_MS = 2_000;
/** The most creates remembered; the oldest go. */
const MAX_REMEMBERED = 1_000;

/** How many creates come at once these days: the largest number within two seconds of the last minute. */
export class RecentDemand {
  #times: number[] = [];

  /** @param now milliseconds on any clock that only goes forward; the same for all calls */
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
