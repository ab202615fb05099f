/** How long readers may work before the event loop is released, in milliseconds. */
const TURN_MS = 2;

/**
 * Divides the main thread's time among many readers. Each asks for a turn before a piece of work, and gets it in the
 * order
 * of asking; after {@link TURN_MS} all who still wait continue in the next turn of the event loop, so that requests are
 * answered in between.
 *
 * Readers run as microtasks between two of this class's own, so the measured time includes their work.
 */
export class WorkTurns {
  readonly #nowMs: () => number;
  #waiting: (() => void)[] = [];
  #running = false;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Resolves when the caller may work, until it next awaits something. */
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
      // Readers that ask again meanwhile are behind all that are already waiting.
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
