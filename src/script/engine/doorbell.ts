/** Who may have a result on its line. */
export interface Listening {
  /** Takes the result, if it is there. */
  look(): void;
}

/**
 * The bell that all script threads of this thread ring: the first that has a result tells it, those that follow until
 * somebody has looked rely on that. A thread that ends may have rung and said nothing, so its end is a ring too.
 */
class Doorbell {
  readonly cell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #waiting = new Set<Listening>();

  await(listening: Listening): void {
    this.#waiting.add(listening);
  }

  forget(listening: Listening): void {
    this.#waiting.delete(listening);
  }

  rang(): void {
    // First, so that a result which comes while we look rings again.
    Atomics.store(this.cell, 0, 0);
    for (const listening of this.#waiting) listening.look();
  }
}

export const doorbell = new Doorbell();
