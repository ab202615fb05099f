import type { Clock } from '../../base/clock.js';

/**
 * The two clocks of a session: the idle one, which begins anew with every sign of life, and the hard one, which counts
 * from its start. Each strikes once at most, and neither after {@link SessionClocks.stop}.
 */
export class SessionClocks {
  readonly #clock: Clock;
  readonly #bounds: { readonly idleMs: number; readonly hardMs: number };
  readonly #onIdle: () => void;
  readonly #onHard: () => void;
  /** When it strikes, in milliseconds since the epoch; infinite while the session cannot be idle. */
  #idleAtMs = Number.POSITIVE_INFINITY;
  /** The timer is left alone when the time moves on, as it does with each script, and looks again when it fires. */
  #timerAtMs = Number.POSITIVE_INFINITY;
  #cancelIdle: () => void = () => undefined;
  #cancelHard: () => void = () => undefined;

  /** When this attempt got its browser, in milliseconds since the epoch. */
  #startedAtMs = 0;

  constructor(
    clock: Clock,
    bounds: { readonly idleMs: number; readonly hardMs: number },
    on: { readonly idle: () => void; readonly hard: () => void },
  ) {
    this.#clock = clock;
    this.#bounds = bounds;
    this.#onIdle = on.idle;
    this.#onHard = on.hard;
  }

  /** The session's time counts from here. @param atMs an instant, where it began earlier */
  start(atMs = this.#nowMs()): void {
    this.#startedAtMs = atMs;
  }

  /** Negative where it is over. */
  get timeLeftMs(): number {
    return this.#startedAtMs + this.#bounds.hardMs - this.#nowMs();
  }

  /** What is left of the session's time, and how long it may be left alone, in milliseconds. */
  get left(): { readonly hardMs: number; readonly idleMs: number } {
    return { hardMs: this.timeLeftMs, idleMs: this.#bounds.idleMs };
  }

  /** @param graceMs how much later the hard clock strikes than the session's time is over */
  strikeAfter(graceMs: number): void {
    this.#cancelHard();
    this.#cancelHard = this.#clock.after(Math.max(0, this.timeLeftMs + graceMs), this.#onHard);
  }

  /** A sign of life. @param busy the session cannot be idle, until the next one */
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
