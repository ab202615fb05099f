import { setTimeout as pause } from 'node:timers/promises';
import type { JournalEvent } from '../../protocol/events.js';
import type { SessionId } from '../../protocol/session.js';
import type { StreamMessage } from '../../protocol/stream.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';

/**
 * The least time between two messages: 25 a second are as many as one can read. The first after a pause is sent at
 * once.
 */
const PACE_MS = 40;
/**
 * Messages per second to all viewers together, which cost 2 % of a core: with many viewers each gets fewer, but at
 * least one a second.
 */
const CROWD_MESSAGES = 1_600;
const MAX_PACE_MS = 1_000;
/** This many events are sent without waiting for the interval. */
const MOST_EVENTS = 200;
/** Viewers written to in one publish, so that other requests do not have to wait for more. */
const LANE_VIEWERS = 16;
/**
 * The longest pause between two lanes. The thread sleeps, so that other processes on its core can run; a turn of the
 * event loop alone would not yield the core. All lanes of a round share one {@link PACE_MS}, with 1 ms each if there
 * are many.
 */
const GAP_MS = 3;

/** Viewers that are served together, by one publish to their topic. */
export interface Lane {
  readonly topic: string;
  viewers: number;
  /** The sequence number of the last event published to it. */
  cursor: number;
  /** Nothing more will be published. */
  over: boolean;
}

/** How a feed reaches its viewers. */
export interface FeedOutlet {
  pack(message: StreamMessage): Uint8Array;
  publish(topic: string, packed: Uint8Array): void;
}

/**
 * The events of one session for all its viewers: read once, encoded once, published lane by lane. It starts with the
 * newest event; a viewer reads earlier events by itself and joins when it has reached the cursor of its lane.
 *
 *   hub -> pending --pace--> packed -> lane 0 | gap | lane 1 | gap | ...
 */
export class SessionFeed {
  readonly #id: SessionId;
  readonly #outlet: FeedOutlet;
  readonly #stopped = new AbortController();
  readonly #lanes = new Set<Lane>();
  #pending: JournalEvent[] = [];
  /** The sequence number of the last encoded event. */
  #packed: number;
  /** The current round of publishes, lane by lane. */
  #round: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #nextAt = 0;
  #laneNumber = 0;
  #over = false;

  constructor(id: SessionId, sessions: Sessions, outlet: FeedOutlet) {
    this.#id = id;
    this.#outlet = outlet;
    this.#packed = sessions.streams.lastSeq();
    // If the session cannot be read, each viewer reports it from its own read of the past.
    this.#run(sessions).catch(() => undefined);
  }

  get viewers(): number {
    return [...this.#lanes].reduce((sum, lane) => sum + lane.viewers, 0);
  }

  get #paceMs(): number {
    return Math.min(MAX_PACE_MS, Math.max(PACE_MS, (this.viewers * 1_000) / CROWD_MESSAGES));
  }

  /** Undone by {@link leave}. */
  join(): Lane {
    for (const lane of this.#lanes) {
      if (lane.viewers >= LANE_VIEWERS) continue;
      lane.viewers += 1;
      return lane;
    }
    // A round in progress covers only the lanes that existed when it began.
    const topic = `session/${this.#id}/${this.#laneNumber++}`;
    const lane = { topic, viewers: 1, cursor: this.#packed, over: this.#over };
    this.#lanes.add(lane);
    return lane;
  }

  leave(lane: Lane): void {
    lane.viewers -= 1;
    if (lane.viewers === 0) this.#lanes.delete(lane);
  }

  stop(): void {
    this.#stopped.abort();
    clearTimeout(this.#timer);
  }

  async #run(sessions: Sessions): Promise<void> {
    const { signal } = this.#stopped;
    for await (const event of sessions.streams.events({ id: this.#id, after: this.#packed, signal })) {
      const count = this.#pending.push(event);
      if (count === 1)
        this.#timer = setTimeout(() => void this.#flush(), Math.max(0, this.#nextAt - performance.now()));
      // The hub buffers events that are not read yet.
      else if (count >= MOST_EVENTS) await this.#flush();
    }
    await this.#flush();
    this.#over = true;
    await this.#publish({ type: 'over', id: this.#id });
  }

  async #flush(): Promise<void> {
    await this.#round;
    clearTimeout(this.#timer);
    const newest = this.#pending.at(-1);
    if (newest === undefined) return;
    const events = this.#pending;
    this.#pending = [];
    this.#packed = newest.seq;
    this.#nextAt = performance.now() + this.#paceMs;
    this.#round = this.#publish({ type: 'events', id: this.#id, events });
    await this.#round;
  }

  /** Never rejects. */
  async #publish(message: StreamMessage): Promise<void> {
    const packed = this.#outlet.pack(message);
    const [cursor, over] = [this.#packed, this.#over];
    const lanes = [...this.#lanes];
    const gapMs = Math.max(1, Math.min(GAP_MS, PACE_MS / lanes.length));
    for (const [index, lane] of lanes.entries()) {
      if (index > 0) await pause(gapMs);
      if (this.#stopped.signal.aborted) return;
      this.#outlet.publish(lane.topic, packed);
      lane.cursor = cursor;
      lane.over = over;
    }
  }
}
