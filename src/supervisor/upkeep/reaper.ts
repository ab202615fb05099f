import type { Clock } from '../../base/clock.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { Driver } from '../../containers/driver.js';

const REAP_EVERY_MS = 10_000;

/**
 * Removes browsers that belong to nobody, while the service runs: those whose removal failed, and what was left in ways
 * that nobody thought of. A browser belongs to somebody when `isKept` knows its lease id.
 */
export class Reaper {
  readonly #driver: Driver;
  readonly #clock: Clock;
  readonly #log: (line: string) => void;
  readonly #kept: { has(leaseId: string): boolean };
  #cancel: () => void = () => undefined;
  #reaping: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(parts: {
    readonly driver: Driver;
    readonly clock: Clock;
    readonly log: (line: string) => void;
    isKept(leaseId: string): boolean;
  }) {
    this.#driver = parts.driver;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#kept = { has: (leaseId) => parts.isKept(leaseId) };
  }

  /** Looks every ten seconds from now on. */
  start(): void {
    if (this.#stopped) return;
    this.#cancel = this.#clock.after(REAP_EVERY_MS, () => {
      this.#reaping = this.#reap().finally(() => this.start());
    });
  }

  /** Settles when no removal of ours is under way. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#reaping;
  }

  /** Never rejects: the next look tries again. */
  async #reap(): Promise<void> {
    try {
      const removed = await this.#driver.sweep(this.#kept);
      if (removed.length > 0) this.#log(`removed ${removed.length} browsers of no session: ${removed.join(', ')}`);
    } catch (error) {
      this.#log(`browsers of no session could not be looked for: ${sentenceOf(error)}`);
    }
  }
}
