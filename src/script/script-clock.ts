import { performance } from 'node:perf_hooks';

/**
 * The longest timer. Node keeps the list of an unreferenced timer until its time is over, so longer waits are split.
 */
const MAX_TIMER_MS = 60_000;

/**
 * The remaining time of a sandbox's current script. It can be paused while a host call waits for a person.
 * Milliseconds.
 *
 * The timer is kept when a script ends, and checks again when it fires: almost every script ends in time, so a timer
 * for each would be wasted. The owner closes the clock in the end.
 */
export class ScriptClock {
  readonly #onExpired: () => void;
  /** Infinite between scripts, and while it is paused. */
  #expiresAt = Number.POSITIVE_INFINITY;
  #deadline = 0;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #stoppedAt: number | null = null;
  #pausedMs = 0;

  /** @param onExpired called once for each script that runs out of time, and not after its {@link end} */
  constructor(onExpired: () => void) {
    this.#onExpired = onExpired;
  }

  start(ms: number): void {
    this.#stoppedAt = null;
    this.#pausedMs = 0;
    this.#deadline = performance.now() + ms;
    this.#watch();
  }

  get leftMs(): number {
    return Math.max(0, this.#deadline - (this.#stoppedAt ?? performance.now()));
  }

  /** How long it was paused so far. */
  get pausedMs(): number {
    return this.#pausedMs;
  }

  pause(): void {
    if (this.#stoppedAt !== null) return;
    this.#stoppedAt = performance.now();
    this.#expiresAt = Number.POSITIVE_INFINITY;
  }

  resume(): void {
    if (this.#stoppedAt === null) return;
    const pausedMs = performance.now() - this.#stoppedAt;
    this.#stoppedAt = null;
    this.#pausedMs += pausedMs;
    this.#deadline += pausedMs;
    this.#watch();
  }

  /** The script has ended. */
  end(): void {
    this.#expiresAt = Number.POSITIVE_INFINITY;
  }

  /**
   * There is no further script. A remaining timer would keep everything that its owner holds in memory, for as long as
   * a job may take.
   */
  close(): void {
    this.end();
    clearTimeout(this.#timer);
    // Earlier than any time, so that no timer is set again.
    this.#timerAt = Number.NEGATIVE_INFINITY;
  }

  #watch(): void {
    this.#expiresAt = this.#deadline;
    if (this.#expiresAt < this.#timerAt) this.#setTimer();
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    // Whole milliseconds, so that Node keeps the timers of all sandboxes in one list.
    const inMs = Math.min(Math.ceil(Math.max(0, this.#expiresAt - performance.now())), MAX_TIMER_MS);
    this.#timerAt = performance.now() + inMs;
    // The script's thread keeps the process alive.
    this.#timer = setTimeout(() => this.#check(), inMs).unref();
  }

  #check(): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    if (this.#expiresAt === Number.POSITIVE_INFINITY) return;
    if (this.#expiresAt > performance.now()) {
      this.#setTimer();
      return;
    }
    this.#expiresAt = Number.POSITIVE_INFINITY;
    this.#onExpired();
  }
}
