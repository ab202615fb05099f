import { boundedWait } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';

interface WaitingScript {
  start(): void;
  reject(error: unknown): void;
}

/** The caller of a script. */
export interface Asker {
  readonly signal: AbortSignal;
}

/**
 * Runs a session's scripts one at a time, in order of arrival. Beyond the bound, a script is rejected with CAPACITY. A
 * waiting script whose caller gives up is dropped; a running one continues, since its effects cannot be undone.
 */
export class ScriptQueue {
  readonly #bound: number;
  readonly #waiting = new Set<WaitingScript>();
  readonly #closed = new AbortController();
  #running = false;

  /** @param bound the most scripts that wait behind the running one */
  constructor(bound: number) {
    this.#bound = bound;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Runs `work` when it is its turn.
   * @param work gets a signal that is aborted when the queue closes
   * @param from its signal drops the script while it waits; the signal is not created for a script that need not wait
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

  /** Rejects waiting scripts and aborts the running one, with `error`. Idempotent. */
  close(error: unknown): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort(error);
    for (const script of [...this.#waiting]) script.reject(error);
  }

  /** Resolves when the previous script has ended and passes its turn on. */
  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#waiting.size >= this.#bound) {
      const message = `${this.#bound} scripts are already waiting in this session; try again later`;
      throw new TroupeError('CAPACITY', message, { retryAfterSeconds: 1 });
    }
    await boundedWait<void>({ signal }, (start, reject) => {
      const script: WaitingScript = { start, reject };
      this.#waiting.add(script);
      return () => this.#waiting.delete(script);
    });
  }
}
