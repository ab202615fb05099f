import { type EventRow, eventRow } from '../protocol/event-row.js';
import type { SessionEvent } from '../protocol/events.js';
import type { SessionId } from '../protocol/session.js';

/** How long the first event of a batch waits for more, in milliseconds. */
const BATCH_MS = 4;

/** Flushes that wait for the shared timer. */
let waiting: (() => void)[] = [];

/** One timer for all sessions of a thread: batches that leave in one turn of its event loop travel as one message. */
function flushTogether(flush: () => void): void {
  if (waiting.push(flush) === 1) setTimeout(flushAll, BATCH_MS);
}

function flushAll(): void {
  const leaving = waiting;
  waiting = [];
  for (const leave of leaving) leave();
}

let instant = { ms: 0, text: '' };

/** The current time as ISO 8601. Cached, so that only the first event of a millisecond formats it. */
function nowText(): string {
  const ms = Date.now();
  if (ms !== instant.ms) instant = { ms, text: new Date(ms).toISOString() };
  return instant.text;
}

/** Batches a session's events for the journal, each with the session's id and its time. */
export class EventBatcher {
  readonly #sessionId: SessionId;
  readonly #send: (batch: readonly EventRow[]) => void;
  readonly #flush = () => this.flush();
  #batch: EventRow[] = [];
  #closed = false;

  /** @param send called with each batch, never an empty one */
  constructor(sessionId: SessionId, send: (batch: readonly EventRow[]) => void) {
    this.#sessionId = sessionId;
    this.#send = send;
  }

  /** Events are dropped after {@link close}. */
  add(event: SessionEvent): void {
    if (this.#closed) return;
    if (this.#batch.push(eventRow(this.#sessionId, event, nowText())) === 1) flushTogether(this.#flush);
  }

  /** Sends the waiting events now. */
  flush(): void {
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    this.#batch = [];
    this.#send(batch);
  }

  /** Sends the waiting events; later ones are dropped. Idempotent. */
  close(): void {
    this.flush();
    this.#closed = true;
  }
}
