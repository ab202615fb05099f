const NS_PER_MS = 1_000_000n;

/**
 * An instant that the threads of a process share, by the system's monotonic clock: each can check whether it has passed
 * without asking the thread that moves it. A process that was frozen finds it passed in the moment in which it wakes up.
 */
export class SharedDeadline {
  /** For another thread, which makes a deadline of it. */
  readonly shared: SharedArrayBuffer;
  readonly #until: BigInt64Array;

  constructor(shared = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#until = new BigInt64Array(shared);
  }

  /** Moves it to so many milliseconds from now; at once if they are not above 0. */
  set leftMs(ms: number) {
    const left = ms > 0 ? BigInt(Math.floor(ms)) * NS_PER_MS : 0n;
    Atomics.store(this.#until, 0, process.hrtime.bigint() + left);
  }

  get hasPassed(): boolean {
    return process.hrtime.bigint() >= Atomics.load(this.#until, 0);
  }
}
