import { performance } from 'node:perf_hooks';

/** What is due later is looked at again after this: Node keeps the list of an unreferenced timer until its time is over. */
const MAX_TIMER_MS = 60_000;

/**
 * The time that a sandbox's script has, one script after another. It can stand still, while a host call waits for a
 * person. Milliseconds.
 *
 * The timer is left alone when a script ends, and looks again when it fires: almost every script ends in time, so one for
 * each would be made to be thrown away. The owner closes it in the end.
 */
export class ScriptClock {
  readonly #onOver: () => void;
  /** Infinite between scripts, and while it stands still. */
  #strikesAt = Number.POSITIVE_INFINITY;
  #deadline = 0;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #stoppedAt: number | null = null;
  #stoodStillMs = 0;

  /** @param onOver called once for each script whose time is over, and not after its {@link end} */
  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

  start(ms: number): void {
    this.#stoppedAt = null;
    this.#stoodStillMs = 0;
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
    this.#strikesAt = Number.POSITIVE_INFINITY;
  }

  go(): void {
    if (this.#stoppedAt === null) return;
    const stoodStillMs = performance.now() - this.#stoppedAt;
    this.#stoppedAt = null;
    this.#stoodStillMs += stoodStillMs;
    this.#deadline += stoodStillMs;
    this.#watch();
  }

  /** The script has ended. */
  end(): void {
    this.#strikesAt = Number.POSITIVE_INFINITY;
  }

  /** There is no next script. A timer that is left would hold all that its owner holds, for as long as a job may take. */
  close(): void {
    this.end();
    clearTimeout(this.#timer);
    // Nothing comes earlier, so no other is set.
    this.#timerAt = Number.NEGATIVE_INFINITY;
  }

  #watch(): void {
    this.#strikesAt = this.#deadline;
    if (this.#strikesAt < this.#timerAt) this.#setTimer();
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    // Whole ones, so that Node keeps those of all sandboxes in one list.
    const inMs = Math.min(Math.ceil(Math.max(0, this.#strikesAt - performance.now())), MAX_TIMER_MS);
    this.#timerAt = performance.now() + inMs;
    // The thread that the script runs in keeps the process alive.
    this.#timer = setTimeout(() => this.#look(), inMs).unref();
  }

  #look(): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    if (this.#strikesAt === Number.POSITIVE_INFINITY) return;
    if (this.#strikesAt > performance.now()) {
      this.#setTimer();
      return;
    }
    this.#strikesAt = Number.POSITIVE_INFINITY;
    this.#onOver();
  }
}
