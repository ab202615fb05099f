import type { Clock } from '../../base/clock.js';

/**
 * A session's two timers: the idle timer, restarted whenever the session is used, and the hard timer, which counts from
 * its start. Each fires at most once, and neither after {@link SessionClocks.stop}.
 */
export class SessionClocks {
  readonly #clock: Clock;
  readonly #bounds: { readonly idleMs: number; readonly hardMs: number };
  readonly #onIdle: () => void;
  readonly #onHard: () => void;
  /** When the idle timer is due, in milliseconds since the epoch; infinite while the session cannot be idle. */
  #idleAtMs = Number.POSITIVE_INFINITY;
  /** When the underlying timer fires. It is not moved with each script, but checks the due time when it fires. */
  #timerAtMs = Number.POSITIVE_INFINITY;
  #cancelIdle: () => void = () => undefined;
  #cancelHard: () => void = () => undefined;

  /** When this attempt got its browser, in milliseconds since the epoch. */
  #startedAtMs = 0;

  constructor(
    clock: Clock,
    limits: { readonly idleMs: number; readonly hardMs: number },
    on: { readonly idle: () => void; readonly hard: () => void },
  ) {
    this.#clock = clock;
    this.#bounds = limits;
    this.#onIdle = on.idle;
    this.#onHard = on.hard;
  }

  /** Starts the session's time. @param atMs the instant, if it began earlier */
  start(atMs = this.#nowMs()): void {
    this.#startedAtMs = atMs;
  }

  /** Negative if the time is over. */
  get timeLeftMs(): number {
    return this.#startedAtMs + this.#bounds.hardMs - this.#nowMs();
  }

  /** The session's remaining time, and how long it may stay idle, in milliseconds. */
  get left(): { readonly hardMs: number; readonly idleMs: number } {
    return { hardMs: this.timeLeftMs, idleMs: this.#bounds.idleMs };
  }

  /** @param graceMs how long after the end of the session's time the hard timer fires */
  startHardTimer(graceMs: number): void {
    this.#cancelHard();
    this.#cancelHard = this.#clock.after(Math.max(0, this.timeLeftMs + graceMs), this.#onHard);
  }

  /** Called when the session is used. @param busy the session cannot be idle until the next call */
  restartIdle(busy: boolean): void {
    this.#idleAtMs = busy ? Number.POSITIVE_INFINITY : this.#nowMs() + this.#bounds.idleMs;
    if (this.#idleAtMs < this.#timerAtMs) this.#setTimer();
  }

  stop(): void {
    this.restartIdle(true);
    this.#cancelIdle();
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    this.#cancelHard();
  }

  #setTimer(): void {
    this.#cancelIdle();
    this.#timerAtMs = this.#idleAtMs;
    this.#cancelIdle = this.#clock.after(this.#timerAtMs - this.#nowMs(), () => {
      this.#timerAtMs = Number.POSITIVE_INFINITY;
      if (this.#idleAtMs <= this.#nowMs()) this.#onIdle();
      else if (this.#idleAtMs < Number.POSITIVE_INFINITY) this.#setTimer();
    });
  }

  #nowMs(): number {
    return this.#clock.now().getTime();
  }
}
