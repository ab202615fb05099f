import { cancelledError } from '../../../agent-js/browser/bounds.js';
import { Wakeups, withSignal } from '../../../base/deadline.js';
import type { HostCall, HostModule } from '../../../script/host-module.js';

/** A person who takes control waits so long for the agent's call under way, and then has it all the same. */
const REST_MS = 3_000;

/**
 * Who drives a session's page: its agent, or a person who has taken control. While a person has it the agent's scripts
 * wait before their next call, and their time stands still.
 *
 *     agent --take--> person --giveBack--> agent
 */
export class ControlLock {
  #driver: 'agent' | 'person';
  #handovers: number;
  /** Calls of the agent under way. */
  #calls = 0;
  readonly #changes = new Wakeups();

  /** @param driver a session that is taken up again may be in a person's hands */
  constructor(driver: 'agent' | 'person') {
    this.#driver = driver;
    this.#handovers = driver === 'person' ? 1 : 0;
  }

  /** Settles when the agent has come to rest, or after 3 s. Taking it again changes nothing. */
  async take(): Promise<void> {
    if (this.#driver === 'agent') this.#handovers += 1;
    this.#driver = 'person';
    await withSignal({ signals: [], ms: REST_MS }, async (late) => {
      while (this.#driver === 'person' && this.#calls > 0 && !late.aborted) await this.#changes.next(late);
    });
  }

  /** Idempotent. */
  giveBack(): void {
    this.#driver = 'agent';
    this.#changes.wake();
  }

  /** Settles once the agent drives, with how often a person has. @throws the signal's reason */
  async agentsTurn(signal: AbortSignal): Promise<number> {
    while (this.#driver === 'person') {
      signal.throwIfAborted();
      await this.#changes.next(signal);
    }
    return this.#handovers;
  }

  /** The same module for the agent's scripts: its calls wait their turn. */
  wrap(module: HostModule): HostModule {
    const calls = Object.entries(module.calls).map(([name, call]) => [name, this.#waiting(call)] as const);
    return { ...module, calls: Object.fromEntries(calls) };
  }

  #waiting(call: HostCall): HostCall {
    return async (args, context) => {
      if (this.#driver === 'person') {
        const resume = context.pause();
        await this.agentsTurn(context.signal).catch(() => {
          throw cancelledError();
        });
        resume();
      }
      this.#calls += 1;
      try {
        return await call(args, context);
      } finally {
        this.#calls -= 1;
        if (this.#calls === 0) this.#changes.wake();
      }
    };
  }
}
