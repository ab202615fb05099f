import type { LeaseIdentity } from '../containers/driver.js';
import { TroupeError } from '../protocol/errors.js';
import { readNumberedEvent } from '../protocol/event-row.js';
import type { JournalEvent } from '../protocol/events.js';
import type { SessionId, SessionRecord } from '../protocol/session.js';
import type { NumberedEventRow, RequestRow, SessionRow } from './messages.js';

/** What the journal keeps of a session. */
export interface StoredSession {
  /** Its `queuePosition` is stored as null: it says something only while the service runs. */
  readonly record: SessionRecord;
  /** How to find its browser after a restart; null where it has none. */
  readonly lease: LeaseIdentity | null;
}

/** What a session was asked for. The journal keeps it until the session has ended. */
export interface StoredRequest {
  readonly sessionId: SessionId;
  /** Who asked. */
  readonly caller: string;
  /** Closed by its owner since it may hold secrets; plain JSON. */
  readonly request: unknown;
}

/** A session that waits for its place: what is kept in memory of it. */
export interface WaitingSession {
  readonly id: SessionId;
  readonly batch: string | null;
  readonly caller: string;
}

export function toRequestRow({ sessionId, caller, request }: StoredRequest): RequestRow {
  return { sessionId, caller, request: toJson(request) };
}

export function toSessionRow(session: StoredSession): SessionRow {
  const { record } = session;
  return {
    id: record.id,
    mode: record.mode,
    status: record.status,
    createdAt: record.createdAt,
    batch: record.batch,
    record: toJson({ ...record, queuePosition: null }),
    lease: session.lease === null ? null : toJson(session.lease),
  };
}

/** A session whose row is not what was written. */
export interface DamagedSession extends Pick<SessionRow, 'id' | 'mode' | 'batch' | 'createdAt'> {
  /** Null where that is what is damaged. */
  readonly record: SessionRecord | null;
}

/** @throws INTERNAL when the row is not what {@link toSessionRow} wrote */
export function fromSessionRow(row: SessionRow): StoredSession {
  const read = readSessionRow(row);
  if ('lease' in read) return read;
  throw new TroupeError('INTERNAL', `The journal's row of session ${row.id} is damaged`);
}

/** As {@link fromSessionRow}, but for what is damaged, of which it answers what is left. */
export function readSessionRow(row: SessionRow): StoredSession | DamagedSession {
  const { id, mode, batch, createdAt } = row;
  const record = parsed(row.record);
  const lease = row.lease === null ? null : parsed(row.lease);
  if (isRecord(record, id) && isLease(lease)) return { record, lease };
  return { id, mode, batch, createdAt, record: isRecord(record, id) ? record : null };
}

/** @throws INTERNAL when the row is damaged */
export function fromEventRow({ seq, sessionId, at, type, data }: NumberedEventRow): JournalEvent {
  return readNumberedEvent([sessionId, at, type, data], seq);
}

/** JSON text of any value; `undefined` becomes null, as the column wants a text. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (cause) {
    throw new TroupeError('INTERNAL', 'A value for the journal cannot be written as JSON', undefined, { cause });
  }
}

// Rows are our own writing, made from checked values, so that reading checks only that a row is whole: the full schema
// would cost 20 us a record on the main thread.
function isRecord(value: unknown, id: string): value is SessionRecord {
  return isObject(value) && value.id === id && typeof value.status === 'string';
}

function isLease(value: unknown): value is LeaseIdentity | null {
  return value === null || (isObject(value) && typeof value.leaseId === 'string' && typeof value.driver === 'string');
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a JSON text stands for; undefined where it is none. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
