import { TroupeError } from '../../../protocol/errors.js';

interface WaitingScript {
  start(): Promise<void>;
  reject(error: unknown): void;
}

/** Who asks for a script. */
export interface Asker {
  readonly signal: AbortSignal;
}

/**
 * Scripts of one session, one at a time in order of arrival. Past the bound a script is refused with CAPACITY. A script
 * whose asker gives up while it waits is dropped unrun; one that runs goes on, since its effects cannot be taken back.
 */
export class ScriptQueue {
  readonly #bound: number;
  readonly #waiting = new Set<WaitingScript>();
  readonly #closed = new AbortController();
  #running = false;

  /** @param bound most scripts that wait behind the one that runs */
  constructor(bound: number) {
    this.#bound = bound;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Runs `work` when its turn comes.
   * @param work gets a signal that is aborted when the queue closes
   * @param from whose signal drops the script while it waits; for one that need not it is not even made
   */
  run<T>(work: (signal: AbortSignal) => Promise<T>, from: Asker): Promise<T> {
    if (this.#closed.signal.aborted) return Promise.reject(this.#closed.signal.reason);
    if (!this.#running) return this.#runNow(work);
    const asker = from.signal;
    if (asker.aborted) return Promise.reject(asker.reason);
    if (this.#waiting.size >= this.#bound) {
      return Promise.reject(
        new TroupeError('CAPACITY', `${this.#bound} scripts wait in this session already`, { retryAfterSeconds: 1 }),
      );
    }
    return new Promise<T>((resolve, reject) => {
      const script: WaitingScript = {
        start: () => {
          asker.removeEventListener('abort', drop);
          return work(this.#closed.signal).then(resolve, reject);
        },
        reject: (error) => {
          asker.removeEventListener('abort', drop);
          reject(error);
        },
      };
      const drop = () => {
        if (this.#waiting.delete(script)) reject(asker.reason);
      };
      asker.addEventListener('abort', drop, { once: true });
      this.#waiting.add(script);
    });
  }

  /** Rejects what waits and aborts what runs, with `error`. Idempotent. */
  close(error: unknown): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort(error);
    for (const script of this.#waiting) script.reject(error);
    this.#waiting.clear();
  }

  async #runNow<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#running = true;
    try {
      return await work(this.#closed.signal);
    } finally {
      void this.#drain();
    }
  }

  async #drain(): Promise<void> {
    for (const script of this.#waiting) {
      this.#waiting.delete(script);
      await script.start();
    }
    this.#running = false;
  }
}
