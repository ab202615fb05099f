import type { EventRow } from '../protocol/event-row.js';
import type { KeptKind, Submission, WriteRequest } from './messages.js';
import { type StoredRequest, type StoredSession, toRequestRow, toSessionRow } from './rows.js';

/** Something that is kept by name: plain JSON; null takes it away. */
export interface Kept {
  readonly kind: KeptKind;
  readonly id: string;
  readonly data: unknown;
}

/** What is written together. */
export interface JournalBatch {
  readonly records?: readonly StoredSession[];
  /** Of sessions that are accepted with it; each is gone with its session's end. */
  readonly requests?: readonly StoredRequest[];
  readonly events?: readonly EventRow[];
  /** Keys that are not in the journal yet. */
  readonly submissions?: readonly Submission[];
  readonly kept?: readonly Kept[];
}

/**
 * A batch as the journal's thread takes it, and what it counts for while it waits for the disk.
 * @throws INTERNAL for a value that is no JSON
 */
export function toWrite(batch: JournalBatch): {
  readonly message: Omit<Extract<WriteRequest, { readonly op: 'write' }>, 'op' | 'id'>;
  readonly rows: number;
  readonly characters: number;
} {
  const { events = [], submissions = [] } = batch;
  const kept = (batch.kept ?? []).map(({ kind, id, data }) => ({
    kind,
    id,
    data: data === null ? null : JSON.stringify(data),
  }));
  const records = (batch.records ?? []).map(toSessionRow);
  const requests = (batch.requests ?? []).map(toRequestRow);
  const rows = requests.length + events.length + submissions.length + kept.length;
  let characters = 0;
  for (const row of records) characters += row.record.length + (row.lease?.length ?? 0);
  for (const { request } of requests) characters += request.length;
  for (const [, , , data] of events) characters += data.length;
  for (const { data } of kept) characters += data?.length ?? 0;
  return { message: { records, requests, events, submissions, kept }, rows, characters };
}
