import { Gauge, type Registry } from 'prom-client';

/** How late one thread's event loop was since the last scrape, and what waits in its mailboxes. */
export interface ThreadSample {
  readonly thread: string;
  readonly lagMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly mailboxDepth: number;
  readonly mailboxDeepest: number;
  readonly actors: number;
}

/** What is looked at when it is asked for, and not before. */
export interface Samples {
  readonly sessions: { readonly running: number; readonly queued: number };
  readonly maxSessions: number;
  readonly warmBrowsers: number;
  readonly threads: readonly ThreadSample[];
  readonly viewers: number;
  /** By the engine's word for each state; empty where browsers are no containers. */
  readonly containers: ReadonlyMap<string, number>;
}

/** The gauges of what has a size at every moment. All of them are set from one look. */
export class SampledGauges {
  readonly #sessions;
  readonly #max;
  readonly #warm;
  readonly #viewers;
  readonly #containers;
  readonly #lag;
  readonly #depth;
  readonly #deepest;
  readonly #actors;

  constructor(registry: Registry) {
    const gauge = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Gauge<L>({ name, help, labelNames, registers: [registry] });
    this.#sessions = gauge('troupe_sessions', 'Sessions that have not ended, by state.', ['state']);
    this.#max = gauge('troupe_sessions_max', 'Sessions that may run at once.');
    this.#warm = gauge('troupe_warm_browsers', 'Browsers that wait ready for a session.');
    this.#viewers = gauge('troupe_viewers', 'Pages that are connected to watch.');
    this.#containers = gauge('troupe_containers', 'Containers of this service, by their state.', ['state']);
    this.#lag = gauge('troupe_event_loop_lag_seconds', 'How late an event loop was since the last scrape.', [
      'thread',
      'stat',
    ]);
    this.#depth = gauge('troupe_mailbox_depth', 'Messages that wait in all mailboxes of a thread.', ['thread']);
    this.#deepest = gauge('troupe_mailbox_deepest', 'Messages that wait in the fullest mailbox.', ['thread']);
    this.#actors = gauge('troupe_actors', 'Session actors of a thread.', ['thread']);
  }

  set(now: Samples): void {
    for (const [state, count] of Object.entries(now.sessions)) this.#sessions.set({ state }, count);
    this.#max.set(now.maxSessions);
    this.#warm.set(now.warmBrowsers);
    this.#viewers.set(now.viewers);
    // A state or a thread that is gone is not told of as it last was.
    for (const labelled of [this.#containers, this.#lag, this.#depth, this.#deepest, this.#actors]) labelled.reset();
    for (const [state, count] of now.containers) this.#containers.set({ state }, count);
    for (const { thread, lagMs, mailboxDepth, mailboxDeepest, actors } of now.threads) {
      this.#lag.set({ thread, stat: 'p50' }, lagMs.p50 / 1000);
      this.#lag.set({ thread, stat: 'p99' }, lagMs.p99 / 1000);
      this.#lag.set({ thread, stat: 'max' }, lagMs.max / 1000);
      this.#depth.set({ thread }, mailboxDepth);
      this.#deepest.set({ thread }, mailboxDeepest);
      this.#actors.set({ thread }, actors);
    }
  }
}
