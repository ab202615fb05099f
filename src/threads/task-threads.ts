import { fileURLToPath } from 'node:url';
import type { Transferable } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { boundedWait, onAbort, startLimit } from '../base/deadline.js';
import { decodeError, TroupeError } from '../protocol/errors.js';
import type { ThreadNames } from './open-worker.js';
import type { TaskAnswer, TaskMessage } from './task-function.js';
import { endReason, threadError } from './thread-end.js';
import { noteThread } from './thread-faults.js';

/** A task that a thread has not begun in this time, in milliseconds, fails: the thread does not load. */
const LOAD_MS = 30_000;

/** Threads for one kind of task. */
export interface TaskThreadsOptions extends ThreadNames {
  /** A module whose exports are made with `taskFunction`. */
  readonly entry: URL;
  /** How many run at once. */
  readonly size: number;
  /** A thread ends after so long without a task, in milliseconds. */
  readonly idleMs: number;
  /** Tasks that may wait for a thread; further ones are rejected. */
  readonly maxWaiting: number;
  /** The limit of a thread's old generation, in megabytes; a task that needs more fails alone. */
  readonly heapMb: number;
}

/** How one task runs. */
export interface TaskOptions {
  /** The export of the thread's module that gets the task. */
  readonly call: string;
  readonly transfer?: readonly Transferable[];
  /** Ends the task, with its thread if that has the task already. */
  readonly signal?: AbortSignal | undefined;
}

/** A task that the pool has. */
interface Handed {
  /** 1 once a thread has begun it. */
  readonly begun: Int32Array;
  fail(error: TroupeError): void;
}

/**
 * A pool of Piscina whose threads may fail. A thread that cannot start, dies, or runs out of memory fails its own task; the
 * next task gets another thread. The pool alone would end the process when a thread cannot load, and leave tasks that wait
 * for that thread, or behind one that died, waiting for ever: so it has no more tasks than threads. Its owner closes it.
 */
export class TaskThreads<T, A> {
  readonly #options: TaskThreadsOptions;
  #pool: Piscina | null = null;
  readonly #handed = new Set<Handed>();
  /** Called when a task may begin. */
  readonly #waiting = new Set<() => void>();
  #begun = 0;
  #isClosed = false;

  constructor(options: TaskThreadsOptions) {
    this.#options = options;
  }

  /**
   * Runs a task when it is its turn.
   * @throws UNAVAILABLE if too many tasks wait, the threads are closed, or the thread fails: see `threadError`
   * @throws the error of the function that got the task; the reason of the signal
   */
  async run(task: T, options: TaskOptions): Promise<A> {
    await this.#turn(options.signal);
    try {
      this.#refuseIfClosed();
      const answer = await this.#hand(task, options);
      if ('error' in answer) throw decodeError(answer.error);
      return answer.value as A; // The function that `call` names takes T and returns A; messages carry no types.
    } finally {
      this.#begun -= 1;
      this.#beginNext();
    }
  }

  /** Ends all threads, and fails what they have and what waits. Idempotent; never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#beginNext();
    await this.#pool?.destroy().catch(() => undefined);
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    this.#refuseIfClosed();
    signal?.throwIfAborted();
    const { name, size, maxWaiting } = this.#options;
    if (this.#begun < size) {
      this.#begun += 1;
      return;
    }
    if (this.#waiting.size >= maxWaiting) {
      throw new TroupeError('UNAVAILABLE', `Too many tasks wait for the ${name} thread; try again later`);
    }
    await boundedWait<void>({ signal }, (resolve) => {
      this.#waiting.add(resolve);
      return () => this.#waiting.delete(resolve);
    });
  }

  #beginNext(): void {
    for (const begin of this.#waiting) {
      if (this.#begun >= this.#options.size && !this.#isClosed) return;
      this.#begun += 1;
      this.#waiting.delete(begin);
      begin();
    }
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new TroupeError('UNAVAILABLE', `The ${this.#options.name} thread has been closed`);
  }

  async #hand(task: T, { call, transfer = [], signal }: TaskOptions): Promise<TaskAnswer> {
    const over = new AbortController();
    const handed: Handed = {
      begun: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
      fail: (error) => over.abort(error),
    };
    const hasBegun = () => Atomics.load(handed.begun, 0) === 1;
    const forget = signal === undefined ? undefined : onAbort(signal, () => over.abort(signal.reason));
    const cancelLimit = startLimit(LOAD_MS, () => {
      if (!hasBegun()) this.#failLoading(`it did not load within ${LOAD_MS / 1000} s`, handed);
    });
    this.#handed.add(handed);
    const message: TaskMessage<T> = { task, begun: handed.begun };
    try {
      this.#pool ??= this.#open();
      return await this.#pool.run(message, { name: call, transferList: [...transfer], signal: over.signal });
    } catch (error) {
      if (over.signal.aborted) throw over.signal.reason;
      // The task or its answer is no data; the thread goes on.
      if (error instanceof Error && error.name === 'DataCloneError') throw error;
      if (this.#isClosed) throw threadError(this.#options.name, true, 'it was ended', error);
      if (!hasBegun()) this.#dropPool(handed);
      throw this.#failed(hasBegun(), endReason(error, this.#options.heapMb), error);
    } finally {
      cancelLimit();
      forget?.();
      this.#handed.delete(handed);
      if (hasBegun()) noteThread(this.#options.part, null);
    }
  }

  /** The next task gets a thread that loads its files anew, if no other task needs this one. */
  #dropPool(failed: Handed): void {
    if ([...this.#handed].some((handed) => handed !== failed)) return;
    void this.#pool?.destroy().catch(() => undefined);
    this.#pool = null;
  }

  #open(): Piscina {
    const { entry, size, idleMs, heapMb } = this.#options;
    const pool = new Piscina({
      filename: fileURLToPath(entry),
      minThreads: 0,
      maxThreads: size,
      idleTimeout: idleMs,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      // A thread that waits for a task by blocking would not see that it ends.
      atomics: 'disabled',
      // Threads do not need the process's loaders and inspectors, nor the keys in its environment.
      execArgv: [],
      env: {},
    });
    let cause: unknown = null;
    pool.on('error', (error: unknown) => {
      cause = error;
    });
    // A thread is gone, for whatever reason; an error that it had is reported right after. Others may be left.
    pool.on('workerDestroy', () =>
      queueMicrotask(() => {
        const reason = cause === null ? 'it ended before it had loaded' : endReason(cause, heapMb);
        if (pool.threads.length === 0 && !this.#isClosed) {
          for (const handed of this.#handed) this.#failLoading(reason, handed, cause);
        }
        cause = null;
      }),
    );
    return pool;
  }

  /** Fails a task, unless a thread has begun it. */
  #failLoading(reason: string, { begun, fail }: Handed, cause?: unknown): void {
    if (Atomics.load(begun, 0) === 0) fail(this.#failed(false, reason, cause));
  }

  #failed(started: boolean, reason: string, cause: unknown): TroupeError {
    const { name, part } = this.#options;
    const error = threadError(name, started, reason, cause);
    if (!started) noteThread(part, error.message);
    return error;
  }
}
