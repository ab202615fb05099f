import { TroupeError } from '../protocol/errors.js';
import type { AskBounds } from './actor.js';

interface PendingAsk {
  readonly what: string;
  readonly bounds: AskBounds;
  /** On the clock of `performance.now()`. */
  readonly dueMs: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly giveUp: (id: number) => void;
  readonly onAbort: (() => void) | undefined;
}

/**
 * What is due later is looked at again after this. Node has a list for each duration, and keeps that of an unreferenced timer
 * until its time is over, also when it was cleared: with hours to wait each job would leave one behind.
 */
const LONGEST_TIMER_MS = 60_000;

/**
 * The asks that wait for an answer, by number. Each ends exactly once: answered, failed, past its deadline, given up by
 * its signal, or rejected with all the others when the other side is gone.
 *
 * One timer serves all of them, set for the earliest deadline. It is left alone when that ask is answered, and finds
 * nothing to do then: almost every ask is answered in time, so a timer for each would be made to be thrown away.
 */
export class PendingAsks {
  readonly #pending = new Map<number, PendingAsk>();
  #nextId = 1;
  #timer: NodeJS.Timeout | undefined;
  #timerDueMs = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#pending.size;
  }

  /**
   * @param send is called with the ask's number, at once
   * @param giveUp is called when the deadline or the signal ended the ask, so that the receiver can be told
   */
  open(what: string, bounds: AskBounds, send: (id: number) => void, giveUp: (id: number) => void): Promise<unknown> {
    const { signal, deadlineMs } = bounds;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = this.#nextId++;
    const dueMs = performance.now() + deadlineMs;
    return new Promise((resolve, reject) => {
      const onAbort = signal === undefined ? undefined : () => this.#abandon(id, signal.reason);
      if (onAbort !== undefined) signal?.addEventListener('abort', onAbort, { once: true });
      this.#pending.set(id, { what, bounds, dueMs, resolve, reject, giveUp, onAbort });
      if (dueMs < this.#timerDueMs) this.#setTimer(dueMs);
      send(id);
    });
  }

  /** An answer to an ask that is no longer open is dropped. */
  answer(id: number, value: unknown): void {
    this.#take(id)?.resolve(value);
  }

  fail(id: number, error: unknown): void {
    this.#take(id)?.reject(error);
  }

  failAll(error: unknown): void {
    for (const id of [...this.#pending.keys()]) this.fail(id, error);
    clearTimeout(this.#timer);
    this.#timerDueMs = Number.POSITIVE_INFINITY;
  }

  #abandon(id: number, error: unknown): void {
    const ask = this.#take(id);
    ask?.reject(error);
    ask?.giveUp(id);
  }

  #take(id: number): PendingAsk | undefined {
    const ask = this.#pending.get(id);
    if (ask === undefined) return undefined;
    this.#pending.delete(id);
    if (ask.onAbort !== undefined) ask.bounds.signal?.removeEventListener('abort', ask.onAbort);
    return ask;
  }

  #setTimer(dueMs: number): void {
    clearTimeout(this.#timer);
    this.#timerDueMs = dueMs;
    const inMs = Math.min(Math.ceil(dueMs - performance.now()), LONGEST_TIMER_MS);
    // What is waited for keeps the process alive, not the end of the waiting.
    this.#timer = setTimeout(() => this.#sweep(), inMs).unref();
  }

  #sweep(): void {
    const nowMs = performance.now();
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const [id, { what, bounds, dueMs }] of this.#pending) {
      if (dueMs > nowMs) earliestMs = Math.min(earliestMs, dueMs);
      else this.#abandon(id, new TroupeError('UNAVAILABLE', `${what} was not answered within ${bounds.deadlineMs} ms`));
    }
    this.#timerDueMs = Number.POSITIVE_INFINITY;
    if (earliestMs < Number.POSITIVE_INFINITY) this.#setTimer(earliestMs);
  }
}
