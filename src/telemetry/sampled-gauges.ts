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

/** A gauge and how it is read from a look: values with their labels. */
interface SampledGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  read(now: Samples): readonly (readonly [labels: { readonly [name: string]: string }, value: number])[];
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
    help: 'Sessions that may run at once.',
    labelNames: [],
    read: ({ maxSessions }) => [[{}, maxSessions]],
  },
  {
    name: 'troupe_warm_browsers',
    help: 'Browsers that wait ready for a session.',
    labelNames: [],
    read: ({ warmBrowsers }) => [[{}, warmBrowsers]],
  },
  {
    name: 'troupe_viewers',
    help: 'Pages that are connected to watch.',
    labelNames: [],
    read: ({ viewers }) => [[{}, viewers]],
  },
  {
    name: 'troupe_containers',
    help: 'Containers of this service, by their state.',
    labelNames: ['state'],
    read: ({ containers }) => [...containers].map(([state, count]) => [{ state }, count]),
  },
  {
    name: 'troupe_event_loop_lag_seconds',
    help: 'How late an event loop was since the last scrape.',
    labelNames: ['thread', 'stat'],
    read: ({ threads }) =>
      threads.flatMap(({ thread, lagMs }) =>
        Object.entries(lagMs).map(([stat, ms]) => [{ thread, stat }, ms / 1000] as const),
      ),
  },
  {
    name: 'troupe_mailbox_depth',
    help: 'Messages that wait in all mailboxes of a thread.',
    labelNames: ['thread'],
    read: ({ threads }) => threads.map(({ thread, mailboxDepth }) => [{ thread }, mailboxDepth]),
  },
  {
    name: 'troupe_mailbox_deepest',
    help: 'Messages that wait in the fullest mailbox.',
    labelNames: ['thread'],
    read: ({ threads }) => threads.map(({ thread, mailboxDeepest }) => [{ thread }, mailboxDeepest]),
  },
  {
    name: 'troupe_actors',
    help: 'Session actors of a thread.',
    labelNames: ['thread'],
    read: ({ threads }) => threads.map(({ thread, actors }) => [{ thread }, actors]),
  },
];

/** The gauges of what has a size at every moment. Answers what sets all of them from one look. */
export function sampledGauges(registry: Registry): (now: Samples) => void {
  const gauges = GAUGES.map(({ name, help, labelNames, read }) => ({
    gauge: new Gauge({ name, help, labelNames, registers: [registry] }),
    read,
  }));
  return (now) => {
    for (const { gauge, read } of gauges) {
      // A state or a thread that is gone keeps no last value.
      gauge.reset();
      for (const [labels, value] of read(now)) gauge.set(labels, value);
    }
  };
}
