import type { JournalEvent } from '../../protocol/events.js';
import type { SessionId } from '../../protocol/session.js';
import type { SessionRow, StreamMessage } from '../../protocol/stream.js';
import type { Sessions } from '../../supervisor/sessions.js';

/** The topic of the list of sessions. */
export const ROWS_TOPIC = 'sessions';

/** A list is for people: four changes a second are as many as one can read. */
const TICK_MS = 250;
/** Characters of what a session does. */
const DOING_LENGTH = 200;

/**
 * The list of sessions, as it changes, for everybody who looks at it. However many events there are, a session is sent
 * at most once in {@link TICK_MS}, as it is then. Reads nothing while nobody watches: the owner makes one for the first
 * viewer and stops it after the last.
 */
export class RowFeed {
  readonly #sessions: Sessions;
  readonly #publish: (message: StreamMessage) => void;
  readonly #stopped = new AbortController();
  readonly #doing = new Map<SessionId, string>();
  #changed = new Set<SessionId>();
  #timer: NodeJS.Timeout | null = null;

  constructor(sessions: Sessions, publish: (message: StreamMessage) => void) {
    this.#sessions = sessions;
    this.#publish = publish;
    // Its only failure is the journal's, which ends the whole service.
    this.#run().catch(() => undefined);
  }

  stop(): void {
    this.#stopped.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    for await (const event of this.#sessions.events({ after: this.#sessions.lastSeq(), signal })) {
      const doing = doingOf(event);
      if (doing !== null) this.#doing.set(event.sessionId, doing.slice(0, DOING_LENGTH));
      this.#changed.add(event.sessionId);
      this.#timer ??= setTimeout(() => void this.#tick(), TICK_MS);
    }
  }

  async #tick(): Promise<void> {
    const changed = [...this.#changed];
    this.#changed = new Set();
    const rows = await Promise.all(changed.map((id) => this.#row(id)));
    this.#timer = null;
    if (this.#stopped.signal.aborted) return;
    const { capacity } = this.#sessions.health();
    this.#publish({ type: 'rows', rows: rows.filter((row) => row !== null), capacity });
    if (this.#changed.size > 0) this.#timer = setTimeout(() => void this.#tick(), TICK_MS);
  }

  /** Null for a session that was removed meanwhile. */
  async #row(id: SessionId): Promise<SessionRow | null> {
    const record = await this.#sessions.get(id).catch(() => null);
    const doing = this.#doing.get(id) ?? null;
    if (record === null || record.endedAt !== null) this.#doing.delete(id);
    return record === null ? null : { record, doing };
  }
}

function doingOf(event: JournalEvent): string | null {
  switch (event.type) {
    case 'FlowStarted':
      return event.data.path;
    case 'StepFinished':
    case 'ScriptStarted':
      return event.data.js;
    default:
      return null;
  }
}
