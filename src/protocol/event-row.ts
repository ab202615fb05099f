import { TroupeError } from './errors.js';
import { EVENT_DATA, type EventType, type JournalEvent, type NewEvent, type SessionEvent } from './events.js';
import type { SessionId } from './session.js';

/**
 * An event as it is sent between threads and stored: session, time (ISO 8601), type, and its data as JSON text, which
 * is
 * not parsed on the way.
 */
export type EventRow = readonly [sessionId: SessionId, at: string, type: EventType, data: string];

/** The approximate size of an event's number, type, session, and time, in characters. */
const FRAME_CHARACTERS = 160;

/** @throws INTERNAL if its data cannot be written as JSON */
export function eventRow(sessionId: SessionId, { type, data }: SessionEvent, at: string): EventRow {
  try {
    return [sessionId, at, type, JSON.stringify(data)];
  } catch (cause) {
    throw new TroupeError('INTERNAL', 'The data of an event cannot be written as JSON', undefined, { cause });
  }
}

/** @throws INTERNAL if the row is not as {@link eventRow} wrote it */
export function readEvent([sessionId, at, type, data]: readonly [string, string, string, string]): NewEvent {
  const event: unknown = { sessionId, at, type, data: JSON.parse(data) };
  if (!isEvent(event)) throw new TroupeError('INTERNAL', `An event of session ${sessionId} is damaged`);
  return event;
}

/**
 * The same with the number from the journal. The number is added to the object instead of spreading both into a new
 * one:
 * V8 of Node 20 gives every copy of an object that contains parsed JSON a hidden class of its own, of 370 bytes.
 */
export function readNumberedEvent(row: readonly [string, string, string, string], seq: number): JournalEvent {
  return Object.assign(readEvent(row), { seq });
}

/**
 * A numbered event as its row: readers that forward it use the text of its data, and the first reader that needs the
 * event
 * itself parses it for all.
 */
export class LazyEvent {
  readonly seq: number;
  readonly row: EventRow;
  #event: JournalEvent | null = null;

  constructor(seq: number, row: EventRow) {
    this.seq = seq;
    this.row = row;
  }

  get sessionId(): SessionId {
    return this.row[0];
  }

  get type(): EventType {
    return this.row[2];
  }

  /** The characters of its data, and the approximate overhead of the rest. */
  get characters(): number {
    return this.row[3].length + FRAME_CHARACTERS;
  }

  /** @throws INTERNAL if the row is damaged */
  get event(): JournalEvent {
    this.#event ??= readNumberedEvent(this.row, this.seq);
    return this.#event;
  }
}

/** Consecutive events that readers get together. Readers at the same position may share the array. */
export type EventPage = readonly LazyEvent[];

/** Does not parse the data. @throws INTERNAL if the row cannot be as {@link eventRow} wrote it */
export function lazyEvent(seq: number, row: readonly [string, string, string, string]): LazyEvent {
  if (!isRow(row)) throw new TroupeError('INTERNAL', `Event ${seq} of session ${row[0]} is damaged`);
  return new LazyEvent(seq, row);
}

function isRow(row: readonly [string, string, string, string]): row is EventRow {
  const [, , type, data] = row;
  return Object.hasOwn(EVENT_DATA, type) && data.startsWith('{') && data.endsWith('}');
}

// We wrote these rows from validated values, so reading only checks that they are intact: the full schema would cost
// 20 us per event.
function isEvent(value: unknown): value is NewEvent {
  return (
    isObject(value) && typeof value.type === 'string' && Object.hasOwn(EVENT_DATA, value.type) && isObject(value.data)
  );
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
