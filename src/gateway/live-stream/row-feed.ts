import type { SessionId } from '../../protocol/session.js';
import type { SessionRow, StreamMessage } from '../../protocol/stream.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';

/** The topic of the session list. */
export const ROWS_TOPIC = 'sessions';

/** A list is for people: four changes a second are enough. */
const TICK_MS = 250;
/** Running sessions that a viewer gets at the start; further ones follow with their next event. */
const MAX_RUNNING = 1000;

/**
 * The changes of the session list, for all viewers of the list. However many events there are, a session is sent at
 * most once in {@link TICK_MS}, in its state at that time. The owner creates a feed for the first viewer and stops it
 * after the last.
 */
export class RowFeed {
  readonly #sessions: Sessions;
  readonly #publish: (message: StreamMessage) => void;
  readonly #stopped = new AbortController();
  #changed = new Set<SessionId>();
  #timer: NodeJS.Timeout | null = null;

  constructor(sessions: Sessions, publish: (message: StreamMessage) => void) {
    this.#sessions = sessions;
    this.#publish = publish;
    // It fails only if the journal does, which ends the whole service.
    this.#run().catch(() => undefined);
  }

  /**
   * The first messages for a viewer: the running sessions with their activity, and the number of sessions of every
   * kind. Changes published later are newer.
   *
   * @param failedSince an ISO timestamp; sessions that failed since then are counted
   */
  async initialMessages(failedSince: string): Promise<readonly StreamMessage[]> {
    const [running, { of, failed }] = await Promise.all([
      this.#sessions.list({ state: 'running', limit: MAX_RUNNING }),
      this.#sessions.counts(failedSince),
    ]);
    return [
      { type: 'counts', of, failed },
      this.#message(running.map((record) => ({ record, doing: this.#sessions.activity(record.id) }))),
    ];
  }

  stop(): void {
    this.#stopped.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    for await (const { sessionId } of this.#sessions.streams.events({
      after: this.#sessions.streams.lastSeq(),
      signal,
    })) {
      this.#changed.add(sessionId);
      this.#timer ??= setTimeout(() => void this.#tick(), TICK_MS);
    }
  }

  async #tick(): Promise<void> {
    const changed = [...this.#changed];
    this.#changed = new Set();
    const rows = await Promise.all(changed.map((id) => this.#row(id)));
    this.#timer = null;
    if (this.#stopped.signal.aborted) return;
    this.#publish(this.#message(rows.filter((row) => row !== null)));
    if (this.#changed.size > 0) this.#timer = setTimeout(() => void this.#tick(), TICK_MS);
  }

  /** Null for a session that was removed meanwhile. */
  async #row(id: SessionId): Promise<SessionRow | null> {
    const record = await this.#sessions.get(id).catch(() => null);
    return record === null ? null : { record, doing: this.#sessions.activity(id) };
  }

  #message(rows: readonly SessionRow[]): StreamMessage {
    const { max, running, queued } = this.#sessions.health().capacity;
    return { type: 'rows', rows, capacity: { max, running, queued } };
  }
}
