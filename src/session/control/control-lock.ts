import { cancelledError } from '../../agent-js/browser/bounds.js';
import { Wakeups, withSignal } from '../../base/deadline.js';
import type { HostCall, HostModule } from '../../script/host-module.js';

/** The longest wait for the agent's current call when a person takes control. */
const MAX_TAKE_MS = 3_000;
/** Calls that do not touch the page: they go on while a person has control. */
const WITHOUT_CONTROL: ReadonlySet<string> = new Set(['handoff']);

/**
 * Who has control of a session's page: the agent, or a person who took it. While a person has control, the agent's
 * scripts wait before their next call, and their timers are paused.
 *
 *     agent --take--> person --giveBack--> agent
 */
export class ControlLock {
  #controller: 'agent' | 'person';
  #handovers: number;
  /** Calls of the agent in progress. */
  #calls = 0;
  readonly #changes = new Wakeups();

  /** @param controller who has control at the start: a person, if they had it when the actor was restarted */
  constructor(controller: 'agent' | 'person') {
    this.#controller = controller;
    this.#handovers = controller === 'person' ? 1 : 0;
  }

  /** Resolves when the agent's calls have finished, or after 3 s. Idempotent. */
  async take(): Promise<void> {
    if (this.#controller === 'agent') this.#handovers += 1;
    this.#controller = 'person';
    await withSignal({ signals: [], ms: MAX_TAKE_MS }, async (late) => {
      while (this.#controller === 'person' && this.#calls > 0 && !late.aborted) await this.#changes.next(late);
    });
  }

  /** Idempotent. */
  giveBack(): void {
    this.#controller = 'agent';
    this.#changes.wake();
  }

  /**
   * Resolves once the agent has control, with the number of times that a person has taken it. @throws the signal's
   * reason
   */
  async waitForControl(signal: AbortSignal): Promise<number> {
    while (this.#controller === 'person') {
      signal.throwIfAborted();
      await this.#changes.next(signal);
    }
    return this.#handovers;
  }

  /** Wraps a module for the agent's scripts: its calls wait until the agent has control. */
  wrap(module: HostModule): HostModule {
    const calls = Object.entries(module.calls).map(
      ([name, call]) => [name, WITHOUT_CONTROL.has(name) ? call : this.#waiting(call)] as const,
    );
    return { ...module, calls: Object.fromEntries(calls) };
  }

  #waiting(call: HostCall): HostCall {
    return async (args, context) => {
      if (this.#controller === 'person') {
        const resume = context.pause();
        await this.waitForControl(context.signal).catch(() => {
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
