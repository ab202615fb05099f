import type { Clock } from '../../base/clock.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { Driver } from '../../containers/driver.js';
import { counted } from '../../protocol/counted.js';

const REAP_EVERY_MS = 10_000;

/**
 * Removes orphaned browsers while the service runs: those whose removal failed, and those that were left for unforeseen
 * reasons. A browser is orphaned if `isKept` does not know its lease id.
 */
export class Reaper {
  readonly #driver: Driver;
  readonly #clock: Clock;
  readonly #log: (line: string) => void;
  readonly #owned: { has(leaseId: string): boolean };
  #cancel: () => void = () => undefined;
  #reaping: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(parts: {
    readonly driver: Driver;
    readonly clock: Clock;
    readonly log: (line: string) => void;
    isOwned(leaseId: string): boolean;
  }) {
    this.#driver = parts.driver;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#owned = { has: (leaseId) => parts.isOwned(leaseId) };
  }

  /** Runs every ten seconds from now on. */
  start(): void {
    if (this.#stopped) return;
    this.#cancel = this.#clock.after(REAP_EVERY_MS, () => {
      this.#reaping = this.#reap().finally(() => this.start());
    });
  }

  /** Resolves when no removal is in progress. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#reaping;
  }

  /** Never rejects: the next run tries again. */
  async #reap(): Promise<void> {
    try {
      const removed = await this.#driver.sweep(this.#owned);
      if (removed.length > 0)
        this.#log(`removed ${counted(removed.length, 'orphaned browser')}: ${removed.join(', ')}`);
    } catch (error) {
      this.#log(`orphaned browsers could not be listed: ${sentenceOf(error)}`);
    }
  }
}
