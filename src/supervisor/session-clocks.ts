import type { Clock } from '../actors/clock.js';

/**
 * The two clocks of a session: the idle one, which begins anew with every sign of life, and the hard one, which does
 * not. Each strikes once at most, and neither after {@link stop}.
 */
export class SessionClocks {
  readonly #clock: Clock;
  readonly #onIdle: () => void;
  readonly #onHard: () => void;
  #cancelIdle: () => void = () => undefined;
  #cancelHard: () => void = () => undefined;

  constructor(clock: Clock, on: { readonly idle: () => void; readonly hard: () => void }) {
    this.#clock = clock;
    this.#onIdle = on.idle;
    this.#onHard = on.hard;
  }

  startHard(ms: number): void {
    this.#cancelHard();
    this.#cancelHard = this.#clock.after(ms, this.#onHard);
  }

  /** @param ms null while the session cannot be idle */
  restartIdle(ms: number | null): void {
    this.#cancelIdle();
    this.#cancelIdle = ms === null ? () => undefined : this.#clock.after(ms, this.#onIdle);
  }

  stop(): void {
    this.#cancelIdle();
    this.#cancelHard();
  }
}
