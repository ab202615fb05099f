import type { NewEvent, SessionEvent } from '../../protocol/events.js';
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

/** A session's own events as batches for the journal: each with the session's id and the instant of its emission. */
export class EventBatcher {
  readonly #sessionId: SessionId;
  readonly #send: (batch: readonly NewEvent[]) => void;
  readonly #leave = () => this.flush();
  #batch: NewEvent[] = [];
  #closed = false;

  /** @param send is given each batch, never an empty one */
  constructor(sessionId: SessionId, send: (batch: readonly NewEvent[]) => void) {
    this.#sessionId = sessionId;
    this.#send = send;
  }

  /** After {@link close} it is dropped. */
  add(event: SessionEvent): void {
    if (this.#closed) return;
    const stamped: NewEvent = { ...event, sessionId: this.#sessionId, at: new Date().toISOString() };
    if (this.#batch.push(stamped) === 1) leaveWithOthers(this.#leave);
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
