import type { EventRow } from '../protocol/event-row.js';
import type { JoinedRow } from './joined-changes.js';
import type { KeyValueKind, Submission, WriteRequest, WriteRights } from './messages.js';
import { type StoredRequest, type StoredSession, toRequestRow, toSessionRow } from './rows.js';

/** A key-value entry. `data` is plain JSON; null deletes the entry. */
export interface KeyValue {
  readonly kind: KeyValueKind;
  readonly id: string;
  readonly data: unknown;
}

/** Rows that are written in one transaction. */
export interface JournalBatch {
  readonly records?: readonly StoredSession[];
  /** Requests of sessions that are accepted in this batch. A request is deleted when its session ends. */
  readonly requests?: readonly StoredRequest[];
  readonly events?: readonly EventRow[];
  /** Idempotency keys, which must not be in the journal yet. */
  readonly submissions?: readonly Submission[];
  readonly keyValues?: readonly KeyValue[];
  /** The jobs of a joined batch, which must not be in the journal yet. */
  readonly joined?: readonly JoinedRow[];
  /** Needed for everything about sessions if several nodes share the database. */
  readonly rights?: WriteRights | undefined;
  /**
   * If the database server goes away, the batch waits until it answers again, for ten minutes at most, and is then
   * written once and in order. Other batches are rejected after some seconds.
   */
  readonly isKept?: boolean | undefined;
}

/**
 * Converts a batch to a message for the journal's thread, and measures it for the bound on waiting writes.
 * @throws INTERNAL if a value cannot be written as JSON
 */
export function toWrite(batch: JournalBatch): {
  readonly message: Omit<Extract<WriteRequest, { readonly op: 'write' }>, 'op' | 'id'>;
  readonly rows: number;
  readonly characters: number;
} {
  const { events = [], submissions = [], joined = [], rights, isKept } = batch;
  const keyValues = (batch.keyValues ?? []).map(({ kind, id, data }) => ({
    kind,
    id,
    data: data === null ? null : JSON.stringify(data),
  }));
  const records = (batch.records ?? []).map(toSessionRow);
  const requests = (batch.requests ?? []).map(toRequestRow);
  const rows = requests.length + events.length + submissions.length + keyValues.length + joined.length;
  let characters = 0;
  for (const row of records) characters += row.record.length + (row.lease?.length ?? 0);
  for (const { request } of requests) characters += request.length;
  for (const [, , , data] of events) characters += data.length;
  for (const { data } of keyValues) characters += data?.length ?? 0;
  return { message: { records, requests, events, submissions, keyValues, joined, rights, isKept }, rows, characters };
}
