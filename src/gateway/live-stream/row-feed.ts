import type { SessionId } from '../../protocol/session.js';
import type { SessionRow, StreamMessage } from '../../protocol/stream.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';

/** The topic of the list of sessions. */
export const ROWS_TOPIC = 'sessions';

/** A list is for people: four changes a second are as many as one can read. */
const TICK_MS = 250;
/** Sessions that run, of which a viewer is told at once what they do; of those beyond it hears when they go on. */
const MAX_RUNNING = 1000;

/**
 * The list of sessions, as it changes, for everybody who looks at it. However many events there are, a session is sent
 * at most once in {@link TICK_MS}, as it is then. Reads nothing while nobody watches: the owner makes one for the first
 * viewer and stops it after the last.
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
    // Its only failure is the journal's, which ends the whole service.
    this.#run().catch(() => undefined);
  }

  /**
   * What a viewer begins with: the sessions that run and what they do, and how many there are of every kind. Changes that
   * are published from now on are newer.
   *
   * @param failedSince an ISO instant; sessions that failed from then on are counted
   */
  async beginning(failedSince: string): Promise<readonly StreamMessage[]> {
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
