import { Gauge, type Registry } from 'prom-client';

/** The event loop lag of one thread since the last scrape, and the messages in its mailboxes. */
export interface ThreadSample {
  readonly thread: string;
  readonly lagMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly mailboxDepth: number;
  readonly mailboxDeepest: number;
  readonly actors: number;
}

/** Values that are sampled at each scrape. */
export interface Samples {
  readonly sessions: { readonly running: number; readonly queued: number };
  readonly maxSessions: number;
  readonly warmBrowsers: number;
  readonly threads: readonly ThreadSample[];
  readonly viewers: number;
  /** By the engine's name of the state; empty if browsers do not run in containers. */
  readonly containers: ReadonlyMap<string, number>;
}

/** A gauge, and how its labelled values are read from a sample. */
interface SampledGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  read(samples: Samples): readonly (readonly [labels: { readonly [name: string]: string }, value: number])[];
}

const GAUGES: readonly SampledGauge[] = [
  {
    name: 'troupe_sessions',
    help: 'Sessions that have not ended, by state.',
    labelNames: ['state'],
    read: ({ sessions }) => Object.entries(sessions).map(([state, count]) => [{ state }, count]),
  },
  {
    name: 'troupe_sessions_max',
    help: 'The maximum of concurrent sessions.',
    labelNames: [],
    read: ({ maxSessions }) => [[{}, maxSessions]],
  },
  {
    name: 'troupe_warm_browsers',
    help: 'Prestarted browsers that wait for a session.',
    labelNames: [],
    read: ({ warmBrowsers }) => [[{}, warmBrowsers]],
  },
  {
    name: 'troupe_viewers',
    help: 'Connected dashboard pages.',
    labelNames: [],
    read: ({ viewers }) => [[{}, viewers]],
  },
  {
    name: 'troupe_containers',
    help: 'Containers of this service, by state.',
    labelNames: ['state'],
    read: ({ containers }) => [...containers].map(([state, count]) => [{ state }, count]),
  },
  {
    name: 'troupe_event_loop_lag_seconds',
    help: 'Event loop lag since the last scrape.',
    labelNames: ['thread', 'stat'],
    read: ({ threads }) =>
      threads.flatMap(({ thread, lagMs }) =>
        Object.entries(lagMs).map(([stat, ms]) => [{ thread, stat }, ms / 1000] as const),
      ),
  },
  {
    name: 'troupe_mailbox_depth',
    help: 'Messages queued in all mailboxes of a thread.',
    labelNames: ['thread'],
    read: ({ threads }) => threads.map(({ thread, mailboxDepth }) => [{ thread }, mailboxDepth]),
  },
  {
    name: 'troupe_mailbox_deepest',
    help: 'Messages queued in the fullest mailbox of a thread.',
    labelNames: ['thread'],
    read: ({ threads }) => threads.map(({ thread, mailboxDeepest }) => [{ thread }, mailboxDeepest]),
  },
  {
    name: 'troupe_actors',
    help: 'Session actors in a thread.',
    labelNames: ['thread'],
    read: ({ threads }) => threads.map(({ thread, actors }) => [{ thread }, actors]),
  },
];

/** Registers the gauges. Returns a function that sets them all from one sample. */
export function sampledGauges(registry: Registry): (samples: Samples) => void {
  const gauges = GAUGES.map(({ name, help, labelNames, read }) => ({
    gauge: new Gauge({ name, help, labelNames, registers: [registry] }),
    read,
  }));
  return (samples) => {
    for (const { gauge, read } of gauges) {
      // Removes the values of states and threads that no longer exist.
      gauge.reset();
      for (const [labels, value] of read(samples)) gauge.set(labels, value);
    }
  };
}
