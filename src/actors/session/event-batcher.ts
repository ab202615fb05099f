import { type EventRow, eventRow } from '../../protocol/event-row.js';
import type { SessionEvent } from '../../protocol/events.js';
import type { SessionId } from '../../protocol/session.js';

/** How long the first event of a batch waits for others, in milliseconds. */
const BATCH_MS = 4;

/** The batches of this thread that leave with the next departure. */
let waiting: (() => void)[] = [];

/** One timer for all sessions of a thread: what leaves in one turn of its event loop travels as one message. */
function leaveWithOthers(leave: () => void): void {
  if (waiting.push(leave) === 1) setTimeout(depart, BATCH_MS);
}

function depart(): void {
  const leaving = waiting;
  waiting = [];
  for (const leave of leaving) leave();
}

let instant = { ms: 0, text: '' };

/** Now, as ISO 8601. Of many events in a millisecond the first pays for the text. */
function nowText(): string {
  const ms = Date.now();
  if (ms !== instant.ms) instant = { ms, text: new Date(ms).toISOString() };
  return instant.text;
}

/** A session's own events as batches for the journal: each with the session's id and the instant of its emission. */
export class EventBatcher {
  readonly #sessionId: SessionId;
  readonly #send: (batch: readonly EventRow[]) => void;
  readonly #leave = () => this.flush();
  #batch: EventRow[] = [];
  #closed = false;

  /** @param send is given each batch, never an empty one */
  constructor(sessionId: SessionId, send: (batch: readonly EventRow[]) => void) {
    this.#sessionId = sessionId;
    this.#send = send;
  }

  /** After {@link close} it is dropped. */
  add(event: SessionEvent): void {
    if (this.#closed) return;
    if (this.#batch.push(eventRow(this.#sessionId, event, nowText())) === 1) leaveWithOthers(this.#leave);
  }

  /** Sends what waits, now. */
  flush(): void {
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    this.#batch = [];
    this.#send(batch);
  }

  /** Sends what waits, and nothing after it. Idempotent. */
  close(): void {
    this.flush();
    this.#closed = true;
  }
}
