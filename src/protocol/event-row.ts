import { TroupeError } from './errors.js';
import { EVENT_DATA, type EventType, type JournalEvent, type NewEvent, type SessionEvent } from './events.js';
import type { SessionId } from './session.js';

/**
 * An event as it crosses threads and goes to disk: whose, when (ISO 8601), its type, and its data as JSON text, which
 * nobody on the way takes apart.
 */
export type EventRow = readonly [sessionId: SessionId, at: string, type: EventType, data: string];

/** What the number, the type, the session and the time of an event take beside its data, in characters. */
const FRAME_CHARACTERS = 160;

/** @throws INTERNAL when JSON cannot have its data */
export function eventRow(sessionId: SessionId, { type, data }: SessionEvent, at: string): EventRow {
  try {
    return [sessionId, at, type, JSON.stringify(data)];
  } catch (cause) {
    throw new TroupeError('INTERNAL', 'The data of an event cannot be written as JSON', undefined, { cause });
  }
}

/** @throws INTERNAL when the row is not what {@link eventRow} wrote */
export function readEvent([sessionId, at, type, data]: readonly [string, string, string, string]): NewEvent {
  const event: unknown = { sessionId, at, type, data: JSON.parse(data) };
  if (!isEvent(event)) throw new TroupeError('INTERNAL', `An event of session ${sessionId} is damaged`);
  return event;
}

/**
 * The same, with the number that the journal gave it. The number is put into the object and not both into a new one: V8 of
 * Node 20 gives every copy of an object with parsed JSON in it a hidden class of its own, of 370 bytes.
 */
export function readNumberedEvent(row: readonly [string, string, string, string], seq: number): JournalEvent {
  return Object.assign(readEvent(row), { seq });
}

/**
 * An event that the journal has numbered, as its row: readers that send it on use the text of its data, and the first who
 * wants the event itself parses it for all.
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

  /** Characters of its data, and about as many as its frame adds. */
  get characters(): number {
    return this.row[3].length + FRAME_CHARACTERS;
  }

  /** @throws INTERNAL when the row is damaged */
  get event(): JournalEvent {
    this.#event ??= readNumberedEvent(this.row, this.seq);
    return this.#event;
  }
}

/** Events in their order that readers take together. All readers that come to the same events may get the same array. */
export type EventPage = readonly LazyEvent[];

/** @throws INTERNAL when the row cannot be what {@link eventRow} wrote; its data is not parsed for that */
export function lazyEvent(seq: number, row: readonly [string, string, string, string]): LazyEvent {
  if (!isRow(row)) throw new TroupeError('INTERNAL', `Event ${seq} of session ${row[0]} is damaged`);
  return new LazyEvent(seq, row);
}

function isRow(row: readonly [string, string, string, string]): row is EventRow {
  const [, , type, data] = row;
  return Object.hasOwn(EVENT_DATA, type) && data.startsWith('{') && data.endsWith('}');
}

// Rows are our own writing, made from checked values, so that reading checks only that a row is whole: the full schema
// would cost 20 us an event.
function isEvent(value: unknown): value is NewEvent {
  return (
    isObject(value) && typeof value.type === 'string' && Object.hasOwn(EVENT_DATA, value.type) && isObject(value.data)
  );
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
