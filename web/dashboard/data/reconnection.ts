const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
/** A connection that was open for so long worked. */
const STEADY_MS = 5_000;

/** The pauses before a lost connection is made again. They grow until a connection lasts, not only until one is open. */
export class Reconnection {
  #openedAt: number | null = null;
  #attempts = 0;

  opened(): void {
    this.#openedAt = performance.now();
  }

  /** The connection is lost, or could not be made. @returns the pause before the next attempt, in milliseconds */
  lost(): number {
    if (this.#openedAt !== null && performance.now() - this.#openedAt >= STEADY_MS) this.#attempts = 0;
    this.#openedAt = null;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#attempts);
    this.#attempts += 1;
    // Many pages of a service that was restarted do not all come at once.
    return pauseMs * (0.5 + Math.random() / 2);
  }
}
