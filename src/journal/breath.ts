/** Events that are written without a pause: about 150 us of work. */
const ROWS = 32;
/** The system makes about 100 us of it. */
const PAUSE_MS = 0.05;

/**
 * Lets go of the processor now and then in a long transaction. Linux puts a thread that wakes behind the one that runs on its
 * core, and lets that one finish its slice of a millisecond or more (EEVDF, "run to parity"): on two cores a session's and
 * the gateway's threads would wait for a whole batch of events. See docs/decisions/2026-11-22-tails-on-few-cores.md.
 */
export class Breath {
  readonly #nothing = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  #rows = 0;

  /** Counts a row that has been written; sleeps where there were many. */
  row(): void {
    this.#rows += 1;
    if (this.#rows % ROWS === 0) Atomics.wait(this.#nothing, 0, 0, PAUSE_MS);
  }

  /** A transaction begins. */
  begin(): void {
    this.#rows = 0;
  }
}
