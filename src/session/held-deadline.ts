import { onAbort } from '../base/deadline.js';

/** The time limit of a job's work, which stands still while the job waits for a person. */
export class HeldDeadline {
  readonly #heldMs: () => number;
  readonly #endsAt: number;

  /** @param heldMs how long the time limit stood still so far, in milliseconds; it increases while it does */
  constructor(timeoutMs: number, heldMs: () => number) {
    this.#heldMs = heldMs;
    this.#endsAt = performance.now() + timeoutMs - heldMs();
  }

  /** Negative if the time is over. */
  get leftMs(): number {
    return this.#endsAt + this.#heldMs() - performance.now();
  }

  /** Runs the work with a signal that is aborted with the reason of `signal`, or with `late` at the time limit. */
  async bound<T>(signal: AbortSignal, late: () => Error, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const watch = (): void => {
      const { leftMs } = this;
      if (leftMs <= 0) controller.abort(late());
      else timer = setTimeout(watch, Math.ceil(leftMs));
    };
    watch();
    const off = onAbort(signal, () => controller.abort(signal.reason));
    try {
      return await work(controller.signal);
    } finally {
      clearTimeout(timer);
      off();
    }
  }
}
