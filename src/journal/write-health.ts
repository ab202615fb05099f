import type { TroupeError } from '../protocol/errors.js';

/** The shortest time between two probes of a file that cannot be written, in milliseconds. */
const PROBE_EVERY_MS = 2_000;

/** Remembers whether the last write of the journal reached the disk. */
export class WriteHealth {
  readonly #probe: () => Promise<void>;
  #fault: TroupeError | null = null;
  #probedAtMs = Number.NEGATIVE_INFINITY;
  #isProbing = false;

  /** @param probe performs a small write, whose outcome must be reported here like any other's */
  constructor(probe: () => Promise<void>) {
    this.#probe = probe;
  }

  /** Records a write that failed, or null. Errors that the file did not cause, such as a duplicate key, are ignored. */
  note(error: TroupeError | null): void {
    if (error === null || error.details?.cause !== undefined) this.#fault = error;
  }

  /**
   * Why the last write failed; null while writes succeed. While they fail, a call may start another probe in the
   * background.
   */
  fault(): TroupeError | null {
    if (this.#fault !== null && !this.#isProbing && performance.now() - this.#probedAtMs >= PROBE_EVERY_MS) {
      this.#isProbing = true;
      this.#probe()
        // The failure has been recorded already.
        .catch(() => undefined)
        .finally(() => {
          this.#probedAtMs = performance.now();
          this.#isProbing = false;
        });
    }
    return this.#fault;
  }
}
