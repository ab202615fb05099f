/** Work that goes on without giving the event loop back, in milliseconds. */
const TURN_MS = 2;

/**
 * Hands out the main thread to many readers in small pieces. Each asks for its turn before a piece of work and is let in
 * in the order of asking; after {@link TURN_MS} all who still wait are left for the next turn of the event loop, so that
 * requests are answered in between.
 *
 * Readers run as microtasks between two of this class's own: what they do is in the time that it measures.
 */
export class WorkTurns {
  readonly #nowMs: () => number;
  #waiting: (() => void)[] = [];
  #running = false;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Settles when the caller may do a piece of work: what it does until it next waits for something. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#running) return;
      this.#running = true;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      const untilMs = this.#nowMs() + TURN_MS;
      // Who asks again meanwhile stands behind all who wait already.
      const waiting = this.#waiting;
      this.#waiting = [];
      let served = 0;
      for (const begin of waiting) {
        begin();
        served += 1;
        await null;
        if (this.#nowMs() >= untilMs) break;
      }
      this.#waiting = [...waiting.slice(served), ...this.#waiting];
    }
    this.#running = false;
  }
}
