import type { TroupeError } from '../protocol/errors.js';

/** A file that cannot be written is tried again this often at most, in milliseconds. */
const PROBE_EVERY_MS = 2_000;

/** Remembers whether the last write of the journal reached the disk. */
export class WriteHealth {
  readonly #probe: () => Promise<void>;
  #fault: TroupeError | null = null;
  #probedAtMs = Number.NEGATIVE_INFINITY;
  #isProbing = false;

  /** @param probe a small write of its own; its end is noted here too */
  constructor(probe: () => Promise<void>) {
    this.#probe = probe;
  }

  succeeded(): void {
    this.#fault = null;
  }

  /** A write failed. One that the file itself did not cause, such as a key that is there already, says nothing of it. */
  failed(error: TroupeError): void {
    if (error.details?.cause !== undefined) this.#fault = error;
  }

  /** Why nothing can be written; null while it can. Where it cannot, asking begins another try in the background. */
  fault(): TroupeError | null {
    if (this.#fault !== null && !this.#isProbing && performance.now() - this.#probedAtMs >= PROBE_EVERY_MS) {
      this.#isProbing = true;
      this.#probe()
        // That it failed was noted.
        .catch(() => undefined)
        .finally(() => {
          this.#probedAtMs = performance.now();
          this.#isProbing = false;
        });
    }
    return this.#fault;
  }
}
