import type { EventPage } from '../../protocol/event-row.js';
import type { JournalEvent } from '../../protocol/events.js';

/** Where a stream begins and when it ends. Without an id: the events of all sessions. */
export interface StreamSelection {
  readonly id?: string;
  /** The number of the last event that the reader has; 0 for all of them. */
  readonly after: number;
  readonly signal: AbortSignal;
}

/**
 * The events of one session or of all, without gap or repeat. A session's stream ends after its SessionEnded. Slow
 * readers
 * read from the journal, so nothing is buffered for them. An unknown session is NOT_FOUND.
 */
export interface EventStreams {
  /** With `upTo`, the stream ends after that number. */
  events(selection: StreamSelection & { readonly upTo?: number }): AsyncIterable<JournalEvent>;
  /** The same in pages, which readers at the same position share: efficient for many readers that only forward them. */
  pages(selection: StreamSelection): AsyncIterable<EventPage>;
  /** The newest event's number: the `after` of a stream that wants only new events. */
  lastSeq(): number;
  /** The same, of all nodes: a client may have got events from another one. */
  newest(): Promise<number>;
}
