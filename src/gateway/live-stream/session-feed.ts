import type { JournalEvent } from '../../protocol/events.js';
import type { SessionId } from '../../protocol/session.js';
import type { StreamMessage } from '../../protocol/stream.js';
import type { Sessions } from '../../supervisor/sessions.js';

/** The topic of a session's events. */
export function topicOf(id: SessionId): string {
  return `session/${id}`;
}

/**
 * The events of one session on their way to everybody who watches it: read once, packed once, published to all. It
 * begins with the newest event; a viewer reads what was before by itself and joins when it has come as far.
 */
export class SessionFeed {
  readonly #id: SessionId;
  readonly #stopped = new AbortController();
  readonly #publish: (message: StreamMessage) => void;
  #pending: JournalEvent[] = [];
  #cursor: number;
  #over = false;

  constructor(id: SessionId, sessions: Sessions, publish: (message: StreamMessage) => void) {
    this.#id = id;
    this.#publish = publish;
    this.#cursor = sessions.lastSeq();
    // A session that cannot be read is told to each viewer by its own reading.
    this.#run(sessions).catch(() => undefined);
  }

  /** The number that the published events have reached. */
  get cursor(): number {
    return this.#cursor;
  }

  /** Nothing more will be published. */
  get over(): boolean {
    return this.#over;
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #run(sessions: Sessions): Promise<void> {
    const { signal } = this.#stopped;
    for await (const event of sessions.events({ id: this.#id, after: this.#cursor, signal })) {
      // What was shown in one turn of the event loop goes out as one message.
      if (this.#pending.push(event) === 1) setImmediate(() => this.#flush());
    }
    if (signal.aborted) return;
    this.#flush();
    this.#over = true;
    this.#publish({ type: 'over', id: this.#id });
  }

  #flush(): void {
    const newest = this.#pending.at(-1);
    if (newest === undefined || this.#stopped.signal.aborted) return;
    this.#publish({ type: 'events', id: this.#id, events: this.#pending });
    this.#pending = [];
    this.#cursor = newest.seq;
  }
}
