import { type Clock, systemClock } from '../base/clock.js';
import { startLimit } from '../base/deadline.js';
import { TroupeError } from '../protocol/errors.js';
import type { MessageMap, Termination } from './actor.js';
import type { ThreadStats } from './actor-thread.js';
import type { Child, ChildState } from './child.js';
import type { ChildSpec } from './child-spec.js';
import { DEFAULT_RESTART_BOUNDS, type RestartBounds } from './restart-policy.js';
import { SupervisedChild } from './supervised-child.js';
import type { ThreadPool } from './thread-pool.js';

export interface SupervisionOptions {
  /** The threads that host the children. Owned by the caller; must outlive the supervision. */
  readonly threads: ThreadPool;
  readonly clock?: Clock;
  /** Returns 0 to 1, for the jitter of delays. */
  readonly random?: () => number;
  readonly bounds?: Partial<RestartBounds>;
}

/** Statistics of the children, for health and metrics. */
export interface SupervisionStats {
  readonly running: number;
  /** Starting or restarting, or waiting to restart. */
  readonly starting: number;
  /** Of all children so far, including ended ones. */
  readonly restarts: number;
  /** Children that ended with an error and were not restarted. */
  readonly failed: number;
  /** Tells to children that were down. */
  readonly dropped: number;
  readonly threads: readonly ({ readonly thread: number } & ThreadStats)[];
}

interface SupervisedEntry {
  readonly state: ChildState;
  readonly restarts: number;
  readonly dropped: number;
  stop(): Promise<Termination>;
  kill(): void;
}

/**
 * One-for-one supervision. It runs on the owner's thread, where the children's resources are owned, so nothing that
 * crashes a child can crash the supervision.
 *
 * - A child that ends is restarted as its spec says, alone, after a delay that grows with each restart within the
 * period;
 *  beyond the intensity it ends permanently. Its siblings are not affected.
 * - A thread that dies, or runs out of heap, ends only its own actors. They are restarted one by one on the least
 * loaded
 *  thread, which is the one that replaced it.
 * - A handler that does not return ends its actor (`hangMs`). If it blocks the thread, it cannot be distinguished from
 *  the other actors there: the thread is ended when it misses its heartbeat, and all its actors are restarted.
 */
export class Supervision {
  readonly #options: SupervisionOptions;
  /** In the order in which they were started. */
  readonly #children = new Map<string, SupervisedEntry>();
  #nextOrdinal = 1;
  /** Totals of children that have ended. */
  #past = { restarts: 0, dropped: 0 };
  #failed = 0;
  #stopped: Promise<void> | undefined;

  constructor(options: SupervisionOptions) {
    this.#options = options;
  }

  /**
   * Starts a child and waits until it is ready.
   * @throws the first start's error; SESSION_RESTARTED if its thread was lost meanwhile
   * @throws INTERNAL if a child with that id exists
   * @throws UNAVAILABLE if the supervision is stopping
   */
  async start<M extends MessageMap, A, E>(spec: ChildSpec<M, A, E>): Promise<Child<M, E>> {
    if (this.#stopped !== undefined)
      throw new TroupeError('UNAVAILABLE', 'The service is stopping; no child is started');
    if (this.#children.has(spec.id)) throw new TroupeError('INTERNAL', `A child ${spec.id} exists already`);
    const { threads, clock = systemClock, random = Math.random, bounds } = this.#options;
    const dependencies = { threads, clock, random, bounds: { ...DEFAULT_RESTART_BOUNDS, ...bounds } };
    const child = new SupervisedChild(spec, this.#nextOrdinal++, dependencies);
    this.#children.set(spec.id, child);
    void child.terminated.then((termination) => {
      this.#children.delete(spec.id);
      this.#past.restarts += child.restarts;
      this.#past.dropped += child.dropped;
      if ('error' in termination) this.#failed += 1;
    });
    await child.begin();
    return child;
  }

  async stats(): Promise<SupervisionStats> {
    const children = [...this.#children.values()];
    return {
      running: children.filter(({ state }) => state.kind === 'running').length,
      starting: children.filter(({ state }) => state.kind === 'starting' || state.kind === 'backing-off').length,
      restarts: children.reduce((sum, { restarts }) => sum + restarts, this.#past.restarts),
      failed: this.#failed,
      dropped: children.reduce((sum, { dropped }) => sum + dropped, this.#past.dropped),
      threads: await this.#options.threads.stats(),
    };
  }

  /**
   * Ends all children one after another, newest first, each with its own shutdown deadline. Those that remain after
   * `deadlineMs` are killed. No child can be started from now on. Idempotent.
   */
  stop(deadlineMs: number): Promise<void> {
    this.#stopped ??= this.#stop(deadlineMs);
    return this.#stopped;
  }

  async #stop(deadlineMs: number): Promise<void> {
    const { clock = systemClock } = this.#options;
    const cancelTimer = startLimit(
      deadlineMs,
      () => {
        for (const child of [...this.#children.values()]) child.kill();
      },
      clock,
    );
    for (const child of [...this.#children.values()].reverse()) await child.stop();
    cancelTimer();
  }
}
