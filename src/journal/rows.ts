import type { LeaseIdentity } from '../containers/driver.js';
import { TroupeError } from '../protocol/errors.js';
import { readNumberedEvent } from '../protocol/event-row.js';
import type { JournalEvent } from '../protocol/events.js';
import type { SessionId, SessionRecord } from '../protocol/session.js';
import type { NumberedEventRow, RequestRow, SessionRow, WrittenSessionRow } from './messages.js';

/** A session as the journal stores it. */
export interface StoredSession {
  /** `queuePosition` is stored as null: it is meaningful only while the service runs. */
  readonly record: SessionRecord;
  /** How to find the session's browser after a restart; null if it has none. */
  readonly lease: LeaseIdentity | null;
}

/** A session's request. Stored until the session ends. */
export interface StoredRequest {
  readonly sessionId: SessionId;
  /** The caller's identity, for fairness. */
  readonly caller: string;
  /** Plain JSON; sealed by the caller because it may contain secrets. */
  readonly request: unknown;
}

/** A queued session: what is kept in memory of it. */
export interface WaitingSession {
  readonly id: SessionId;
  readonly batch: string | null;
  readonly caller: string;
}

export function toRequestRow({ sessionId, caller, request }: StoredRequest): RequestRow {
  return { sessionId, caller, request: toJson(request) };
}

export function toSessionRow(session: StoredSession): WrittenSessionRow {
  const { record } = session;
  return {
    id: record.id,
    mode: record.mode,
    status: record.status,
    createdAt: record.createdAt,
    batch: record.batch,
    endedAt: record.endedAt,
    attempt: record.attempt,
    outcome: record.outcome ?? null,
    labels: Object.entries(record.labels).map(([name, value]) => [storable(name), storable(value)] as const),
    record: toJson({ ...record, queuePosition: null }),
    lease: session.lease === null ? null : toJson(session.lease),
  };
}

/** A text as both databases can store and compare it: PostgreSQL refuses the zero character and lone surrogates. */
export function storable(text: string): string {
  return text.replace(/\0|\p{Surrogate}/gu, '\ufffd');
}

/** A session whose row is not as it was written. */
export interface DamagedSession extends Pick<SessionRow, 'id' | 'mode' | 'batch' | 'createdAt'> {
  /** Null if the record itself is damaged. */
  readonly record: SessionRecord | null;
}

/** @throws INTERNAL if the row is not as {@link toSessionRow} wrote it */
export function fromSessionRow(row: SessionRow): StoredSession {
  const read = readSessionRow(row);
  if ('lease' in read) return read;
  throw new TroupeError('INTERNAL', `The journal's row of session ${row.id} is damaged`);
}

/** Like {@link fromSessionRow}, but returns the readable part of a damaged row. */
export function readSessionRow(row: SessionRow): StoredSession | DamagedSession {
  const { id, mode, batch, createdAt } = row;
  const record = parseJson(row.record);
  const lease = row.lease === null ? null : parseJson(row.lease);
  if (isRecord(record, id) && isLease(lease)) return { record, lease };
  return { id, mode, batch, createdAt, record: isRecord(record, id) ? record : null };
}

/** @throws INTERNAL if the row is damaged */
export function fromEventRow({ seq, sessionId, at, type, data }: NumberedEventRow): JournalEvent {
  return readNumberedEvent([sessionId, at, type, data], seq);
}

/** JSON text of any value; `undefined` becomes null because the column requires a text. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (cause) {
    throw new TroupeError('INTERNAL', 'A value for the journal cannot be written as JSON', undefined, { cause });
  }
}

// We wrote these rows from validated values, so reading only checks that they are intact: the full schema would cost
// 20 us per record on the main thread.
function isRecord(value: unknown, id: string): value is SessionRecord {
  return isObject(value) && value.id === id && typeof value.status === 'string';
}

function isLease(value: unknown): value is LeaseIdentity | null {
  return value === null || (isObject(value) && typeof value.leaseId === 'string' && typeof value.driver === 'string');
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text; undefined if it is not valid JSON. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
