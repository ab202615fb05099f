import type { Clock } from '#troupe/base/clock.js';

interface Timer {
  readonly dueMs: number;
  readonly work: () => void;
}

/** A clock that stands still until it is told to go on. */
export class ManualClock implements Clock {
  readonly #timers = new Set<Timer>();
  #nowMs = Date.UTC(2026, 0, 1);

  now(): Date {
    return new Date(this.#nowMs);
  }

  after(ms: number, work: () => void): () => void {
    const timer = { dueMs: this.#nowMs + ms, work };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Timers that have not run yet. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Runs what is due by then, in order, also what that work sets in turn. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (let next = this.#next(untilMs); next !== undefined; next = this.#next(untilMs)) {
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.work();
    }
    this.#nowMs = untilMs;
  }

  #next(untilMs: number): Timer | undefined {
    const due = [...this.#timers].filter(({ dueMs }) => dueMs <= untilMs);
    return due.sort((a, b) => a.dueMs - b.dueMs)[0];
  }
}
