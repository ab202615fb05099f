import type { EventPage } from '../../protocol/event-row.js';
import type { JournalEvent } from '../../protocol/events.js';

/** Where a stream begins, and for how long it lasts. Without an id: the events of all sessions. */
export interface StreamSelection {
  readonly id?: string;
  /** The number of the last event that the reader has; 0 for all of them. */
  readonly after: number;
  readonly signal: AbortSignal;
}

/**
 * The events of one session or of all, without gap or repeat. A session's own stream ends after its SessionEnded. Slow
 * readers are fed from the journal, so nothing is buffered for them. An unknown session is NOT_FOUND.
 */
export interface EventStreams {
  /** With `upTo` it ends when all up to that number was shown. */
  events(selection: StreamSelection & { readonly upTo?: number }): AsyncIterable<JournalEvent>;
  /** The same in pages, which readers of the same events share: for many who only send them on. */
  pages(selection: StreamSelection): AsyncIterable<EventPage>;
  /** The newest event's number: where a stream begins that wants only what comes next. */
  lastSeq(): number;
}
