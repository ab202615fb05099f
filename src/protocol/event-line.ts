import { TroupeError } from './errors.js';
import { EVENT_DATA, type EventType, type JournalEvent, type NewEvent, type SessionEvent } from './events.js';
import type { SessionId } from './session.js';

/** Characters of a session's id, and where those of the instant end. */
const ID_END = 12;
const AT_END = ID_END + '2026-01-01T00:00:00.000Z'.length;

declare const line: unique symbol;

/**
 * An event as it crosses threads and goes to disk: one text, which nobody on the way takes apart. Whose it is (12
 * characters), when (24, ISO 8601), its type, and its data as JSON text, which begins with a brace.
 */
export type EventLine = string & { readonly [line]: true };

/** @throws INTERNAL when JSON cannot have its data */
export function eventLine(sessionId: SessionId, { type, data }: SessionEvent, at: string): EventLine {
  let json: string;
  try {
    json = JSON.stringify(data);
  } catch (cause) {
    throw new TroupeError('INTERNAL', 'The data of an event cannot be written as JSON', undefined, { cause });
  }
  const text = `${sessionId}${at}${type}${json}`;
  if (!isLine(text)) throw new TroupeError('INTERNAL', `An event of session ${sessionId} is no line`);
  return text;
}

/** Whose event it is. */
export function sessionOf(text: EventLine): SessionId {
  // Its maker was given one.
  return text.slice(0, ID_END) as SessionId;
}

export function typeOf(text: EventLine): EventType {
  // The same.
  return text.slice(AT_END, text.indexOf('{', AT_END)) as EventType;
}

/** The parts in their order: session, instant, type, data. */
export function cellsOf(text: string): readonly [sessionId: string, at: string, type: string, data: string] {
  const brace = text.indexOf('{', AT_END);
  return [text.slice(0, ID_END), text.slice(ID_END, AT_END), text.slice(AT_END, brace), text.slice(brace)];
}

/** @throws INTERNAL when the text is not what {@link eventLine} wrote */
export function readEvent(text: string): NewEvent {
  const [sessionId, at, type, data] = cellsOf(text);
  const event: unknown = { sessionId, at, type, data: JSON.parse(data) };
  if (!isEvent(event)) throw new TroupeError('INTERNAL', `An event of session ${sessionId} is damaged`);
  return event;
}

/**
 * The same, with the number that the journal gave it. The number is put into the object and not both into a new one: V8 of
 * Node 20 gives every copy of an object with parsed JSON in it a hidden class of its own, of 370 bytes.
 */
export function readNumberedEvent(text: string, seq: number): JournalEvent {
  return Object.assign(readEvent(text), { seq });
}

function isLine(text: string): text is EventLine {
  return text[AT_END - 1] === 'Z' && text.endsWith('}');
}

// Lines are our own writing, made from checked values, so that reading checks only that one is whole: the full schema
// would cost 20 us an event.
function isEvent(value: unknown): value is NewEvent {
  return (
    isObject(value) && typeof value.type === 'string' && Object.hasOwn(EVENT_DATA, value.type) && isObject(value.data)
  );
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
