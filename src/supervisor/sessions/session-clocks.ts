import type { Clock } from '../../base/clock.js';
import { MAX_HANDOFF_MS } from '../../protocol/person/handoff.js';

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
  /** How long the session's time stood still, without the time since `#heldSinceMs`. */
  #heldMs = 0;
  #heldSinceMs: number | null = null;
  /** Of the hard timer; null: it is not started. */
  #graceMs: number | null = null;

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
    this.#heldMs = 0;
  }

  /** The session waits for a person: its time stands still, for 24 hours in total at most. Idempotent. */
  hold(): void {
    if (this.#heldSinceMs !== null || this.#heldMs >= MAX_HANDOFF_MS) return;
    this.#heldSinceMs = this.#nowMs();
    this.#cancelHard();
  }

  /** Ends {@link hold}. Idempotent. */
  release(): void {
    if (this.#heldSinceMs === null) return;
    this.#heldMs += this.#nowMs() - this.#heldSinceMs;
    this.#heldSinceMs = null;
    if (this.#graceMs !== null) this.startHardTimer(this.#graceMs);
  }

  /** Negative if the time is over. */
  get timeLeftMs(): number {
    const now = this.#nowMs();
    const heldMs = this.#heldMs + (this.#heldSinceMs === null ? 0 : now - this.#heldSinceMs);
    return this.#startedAtMs + this.#bounds.hardMs + heldMs - now;
  }

  /** The session's remaining time, and how long it may stay idle, in milliseconds. */
  get left(): { readonly hardMs: number; readonly idleMs: number } {
    return { hardMs: this.timeLeftMs, idleMs: this.#bounds.idleMs };
  }

  /** @param graceMs how long after the end of the session's time the hard timer fires */
  startHardTimer(graceMs: number): void {
    this.#graceMs = graceMs;
    this.#cancelHard();
    if (this.#heldSinceMs === null)
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
    this.#graceMs = null;
    this.#heldSinceMs = null;
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

interface TimeLimits {
  readonly idleTimeout: number;
  readonly hardTimeout: number;
}

/** The limits of a session, in milliseconds: what its request says, or the configuration, both in seconds. */
export function timeLimits(
  request: { readonly [Limit in keyof TimeLimits]?: number | undefined },
  config: TimeLimits,
): { readonly idleMs: number; readonly hardMs: number } {
  const { idleTimeout = config.idleTimeout, hardTimeout = config.hardTimeout } = request;
  return { idleMs: idleTimeout * 1000, hardMs: hardTimeout * 1000 };
}
