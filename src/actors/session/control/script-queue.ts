import { boundedWait } from '../../../base/deadline.js';
import { TroupeError } from '../../../protocol/errors.js';

interface WaitingScript {
  start(): void;
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
  async run<T>(work: (signal: AbortSignal) => Promise<T>, from: Asker): Promise<T> {
    this.#closed.signal.throwIfAborted();
    if (this.#running) await this.#turn(from.signal);
    this.#running = true;
    try {
      return await work(this.#closed.signal);
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#running = false;
      else next.start();
    }
  }

  /** Rejects what waits and aborts what runs, with `error`. Idempotent. */
  close(error: unknown): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort(error);
    for (const script of [...this.#waiting]) script.reject(error);
  }

  /** Settles when the script before has ended, which hands its turn on. */
  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#waiting.size >= this.#bound) {
      const message = `${this.#bound} scripts wait in this session already`;
      throw new TroupeError('CAPACITY', message, { retryAfterSeconds: 1 });
    }
    await boundedWait<void>({ signal }, (start, reject) => {
      const script: WaitingScript = { start, reject };
      this.#waiting.add(script);
      return () => this.#waiting.delete(script);
    });
  }
}
