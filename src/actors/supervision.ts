import { type Clock, systemClock } from '../base/clock.js';
import { TroupeError } from '../protocol/errors.js';
import type { MessageMap, Termination } from './actor.js';
import type { ThreadStats } from './actor-thread.js';
import type { Child, ChildState } from './child.js';
import type { ChildSpec } from './child-spec.js';
import { DEFAULT_RESTART_BOUNDS, type RestartBounds } from './restart-policy.js';
import { SupervisedChild } from './supervised-child.js';
import type { ThreadPool } from './thread-pool.js';

export interface SupervisionOptions {
  /** Where the children live. It belongs to the caller and must outlive the supervision. */
  readonly threads: ThreadPool;
  readonly clock?: Clock;
  /** 0 to 1, for the jitter of delays. */
  readonly random?: () => number;
  readonly bounds?: Partial<RestartBounds>;
}

/** Numbers about the children, for health and metrics. */
export interface SupervisionStats {
  readonly running: number;
  /** Starting for the first time or again, or waiting to. */
  readonly starting: number;
  /** Of all children since the beginning, ended ones too. */
  readonly restarts: number;
  /** Children that ended by a fault and were not started again. */
  readonly failed: number;
  /** Tells to children that were away. */
  readonly dropped: number;
  readonly threads: readonly ({ readonly thread: number } & ThreadStats)[];
}

interface Kept {
  readonly state: ChildState;
  readonly restarts: number;
  readonly dropped: number;
  stop(): Promise<Termination>;
  kill(): void;
}

/**
 * One-for-one supervision on the owner's side: it lives where the children's resources are owned, so nothing that can
 * crash a child can crash it.
 *
 * - A child that ends is started again as its spec says, alone, after a delay that grows with each restart within the
 *   period; past the intensity it ends for good, and its siblings do not notice.
 * - A thread that dies, or runs out of heap, takes its own actors only. They start again one by one, on the least loaded
 *   thread: that is the fresh one in its place.
 * - A handler that does not come back ends its actor (`hangMs`). One that blocks its thread cannot be told from its
 *   neighbours there: the thread is ended when it misses its heartbeat, and all its actors start again.
 */
export class Supervision {
  readonly #options: SupervisionOptions;
  /** In the order of their start. */
  readonly #children = new Map<string, Kept>();
  #nextOrdinal = 1;
  /** Of children that have ended. */
  #past = { restarts: 0, dropped: 0 };
  #failed = 0;
  #stopped: Promise<void> | undefined;

  constructor(options: SupervisionOptions) {
    this.#options = options;
  }

  /**
   * Starts a child and waits until it is ready.
   * @throws what the first start failed with; SESSION_RESTARTED when its thread was lost meanwhile
   * @throws INTERNAL when there is a child of that id
   * @throws UNAVAILABLE when the supervision stops
   */
  async start<M extends MessageMap, A, E>(spec: ChildSpec<M, A, E>): Promise<Child<M, E>> {
    if (this.#stopped !== undefined) throw new TroupeError('UNAVAILABLE', 'No child is started any more');
    if (this.#children.has(spec.id)) throw new TroupeError('INTERNAL', `There is a child ${spec.id} already`);
    const { threads, clock = systemClock, random = Math.random, bounds } = this.#options;
    const around = { threads, clock, random, bounds: { ...DEFAULT_RESTART_BOUNDS, ...bounds } };
    const child = new SupervisedChild(spec, this.#nextOrdinal++, around);
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
   * Ends all children, one after another and the newest first, each with its own shutdown deadline. Those that are left
   * at `deadlineMs` are killed. Starts none from now on. Idempotent.
   */
  stop(deadlineMs: number): Promise<void> {
    this.#stopped ??= this.#stop(deadlineMs);
    return this.#stopped;
  }

  async #stop(deadlineMs: number): Promise<void> {
    const { clock = systemClock } = this.#options;
    const cancelTimer = clock.after(deadlineMs, () => {
      for (const child of [...this.#children.values()]) child.kill();
    });
    for (const child of [...this.#children.values()].reverse()) await child.stop();
    cancelTimer();
  }
}
