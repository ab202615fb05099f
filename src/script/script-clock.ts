/** The longest that Node's timers can wait. */
const MAX_TIMER_MS = 2_147_483_647;

/** The time that a script has. It can stand still, while its host call waits for a person. Milliseconds. */
export class ScriptClock {
  readonly #onOver: () => void;
  #deadline: number;
  #timer: NodeJS.Timeout | undefined;
  #stoppedAt: number | null = null;
  #stoodStillMs = 0;

  /** @param onOver called once when the time is over, and not after {@link end} */
  constructor(ms: number, onOver: () => void) {
    this.#onOver = onOver;
    this.#deadline = performance.now() + ms;
    this.#watch();
  }

  get leftMs(): number {
    return Math.max(0, this.#deadline - (this.#stoppedAt ?? performance.now()));
  }

  /** How long it has stood still so far. */
  get stoodStillMs(): number {
    return this.#stoodStillMs;
  }

  stop(): void {
    if (this.#stoppedAt !== null) return;
    this.#stoppedAt = performance.now();
    clearTimeout(this.#timer);
  }

  go(): void {
    if (this.#stoppedAt === null) return;
    const stoodStillMs = performance.now() - this.#stoppedAt;
    this.#stoppedAt = null;
    this.#stoodStillMs += stoodStillMs;
    this.#deadline += stoodStillMs;
    this.#watch();
  }

  end(): void {
    this.stop();
  }

  #watch(): void {
    const over = () => (this.leftMs > 0 ? this.#watch() : this.#onOver());
    // Whole ones, so that Node keeps those of all scripts in one list.
    this.#timer = setTimeout(over, Math.min(Math.ceil(this.leftMs), MAX_TIMER_MS));
  }
}
