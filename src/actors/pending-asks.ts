import { stretched } from '../base/deadline.js';
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
 * The longest timer; a later deadline takes several. Node keeps a list per duration, and keeps that of an unreferenced
 * timer until it would have fired even if it was cleared: with timers of hours each job would leave one behind.
 */
const MAX_TIMER_MS = 60_000;

/**
 * Asks that wait for a reply, by number. Each ends exactly once: answered, failed, timed out, cancelled by its signal,
 * or
 * rejected with all the others when the other side is gone.
 *
 * One timer serves all of them, set for the earliest deadline. It is not cleared when that ask is answered; it then
 * fires
 * without effect. Almost every ask is answered in time, so one timer per ask would be wasted.
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
   * @param send called synchronously with the ask's number
   * @param giveUp called if the deadline or the signal ended the ask, to notify the receiver
   */
  open(what: string, bounds: AskBounds, send: (id: number) => void, giveUp: (id: number) => void): Promise<unknown> {
    const { signal, deadlineMs } = bounds;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = this.#nextId++;
    const dueMs = performance.now() + stretched(deadlineMs);
    return new Promise((resolve, reject) => {
      const onAbort = signal === undefined ? undefined : () => this.#abandon(id, signal.reason);
      if (onAbort !== undefined) signal?.addEventListener('abort', onAbort, { once: true });
      this.#pending.set(id, { what, bounds, dueMs, resolve, reject, giveUp, onAbort });
      if (dueMs < this.#timerDueMs) this.#setTimer(dueMs);
      send(id);
    });
  }

  /** A reply to an ask that is no longer pending is dropped. */
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
    const inMs = Math.min(Math.ceil(dueMs - performance.now()), MAX_TIMER_MS);
    // Unreferenced: the awaited work keeps the process alive, not its deadline.
    this.#timer = setTimeout(() => this.#expire(), inMs).unref();
  }

  #expire(): void {
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
