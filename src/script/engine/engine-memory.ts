import type {} from './engine-wasm.js';

const PAGE_BYTES = 65_536;
/** The minimum that the engine requires. */
const INITIAL_BYTES = 16 * 1024 * 1024;
/** A growth by less than this part of the limit, if it is refused, means that the engine's memory is used up. */
const SMALL_PART = 1 / 16;

/**
 * The memory of one engine, which cannot exceed `limitBytes`. It notes what it refuses: once the engine could not have a
 * small piece, its state is unknown, although the script may have caught the error.
 */
export class EngineMemory extends WebAssembly.Memory {
  readonly #limitBytes: number;
  #refusals = 0;
  #isUsedUp = false;

  constructor(limitBytes: number) {
    const maximum = Math.floor(Math.max(INITIAL_BYTES, limitBytes) / PAGE_BYTES);
    super({ initial: INITIAL_BYTES / PAGE_BYTES, maximum });
    this.#limitBytes = maximum * PAGE_BYTES;
  }

  /** Anything was refused, large or small. */
  get hasRefused(): boolean {
    return this.#refusals > 0;
  }

  /** Something was refused that was small, or {@link required}. */
  get isUsedUp(): boolean {
    return this.#isUsedUp;
  }

  /** For what the engine's interface allocates without looking whether it could: it would use the address 0. */
  required<T>(allocate: () => T): T {
    const before = this.#refusals;
    try {
      return allocate();
    } finally {
      if (this.#refusals > before) this.#isUsedUp = true;
    }
  }

  override grow(pages: number): number {
    try {
      return super.grow(pages);
    } catch (error) {
      this.#refusals += 1;
      if (pages * PAGE_BYTES <= this.#limitBytes * SMALL_PART) this.#isUsedUp = true;
      throw error;
    }
  }
}
