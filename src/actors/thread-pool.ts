import type { ActorKind, MessageMap } from './actor.js';
import type { ThreadStats } from './actor-thread.js';
import { type ActorHandle, type SpawnOptions, ThreadHost, type ThreadOptions } from './thread-host.js';

/** A thread's index, or the thread with the fewest actors. */
export type ThreadChoice = number | 'least-loaded';

/** An actor and the index of its thread. */
export interface Placed<H> {
  readonly handle: H;
  readonly thread: number;
}

export interface PlaceOptions<E> extends SpawnOptions<E> {
  /** Least loaded by default. */
  readonly thread?: ThreadChoice;
}

/**
 * A fixed number of threads that host actors. An actor is placed on the thread with the fewest actors, or on a given
 * one.
 * A dead thread is replaced when the next actor is placed on it, so a thread that cannot start costs one start per
 * attempt and never restarts in a loop.
 */
export class ThreadPool {
  readonly #options: ThreadOptions;
  readonly #threads: ThreadHost[];
  #closed = false;

  constructor(options: ThreadOptions, size: number) {
    this.#options = options;
    this.#threads = Array.from({ length: size }, (_, index) => this.#start(index));
  }

  /**
   * @throws INTERNAL if there is no thread with that index
   * @throws what {@link ThreadHost.spawn} throws
   */
  async spawn<M extends MessageMap, A, E>(
    kind: ActorKind<M, A, E>,
    args: A,
    options: PlaceOptions<E> = {},
  ): Promise<Placed<ActorHandle<M, E>>> {
    const { thread = 'least-loaded' } = options;
    const index = thread === 'least-loaded' ? this.#leastLoaded() : thread;
    return { handle: await this.#at(index).spawn(kind, args, options), thread: index };
  }

  /** Statistics of the living threads. Omits one that dies, or is ended because it hangs, before it answers. */
  async stats(): Promise<readonly ({ readonly thread: number } & ThreadStats)[]> {
    const living = [...this.#threads.entries()].filter(([, host]) => host.alive);
    const answers = await Promise.allSettled(
      living.map(async ([thread, host]) => ({ thread, ...(await host.stats()) })),
    );
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  }

  /** Ends every thread with its actors. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #leastLoaded(): number {
    let best = 0;
    for (let index = 1; index < this.#threads.length; index += 1) {
      if (this.#load(index) < this.#load(best)) best = index;
    }
    return best;
  }

  #load(index: number): number {
    const thread = this.#threads[index];
    return thread?.alive ? thread.actorCount : 0;
  }

  #at(index: number): ThreadHost {
    const thread = this.#threads[index];
    if (thread === undefined) throw new Error(`There is no thread ${index}, only ${this.#threads.length} of them`);
    if (thread.alive || this.#closed) return thread;
    const fresh = this.#start(index);
    this.#threads[index] = fresh;
    return fresh;
  }

  #start(index: number): ThreadHost {
    return new ThreadHost({ ...this.#options, name: `${this.#options.name}-${index}` });
  }
}
