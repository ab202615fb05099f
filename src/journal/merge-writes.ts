import type { Insertable } from 'kysely';
import type { EventRow } from '../protocol/event-row.js';
import { causeOf } from '../protocol/report/failure-of-error.js';
import { ErrorBodySchema } from '../protocol/session.js';
import type { WriteRequest } from './messages.js';
import { parseJson, storable } from './rows.js';
import type { Schema } from './schema.js';

type Row<Table extends keyof Schema> = Insertable<Schema[Table]>;

/** Consecutive writes as one: of several rows with the same key, the last. */
export interface MergedWrite {
  readonly sessions: readonly Row<'sessions'>[];
  readonly labels: readonly Row<'session_labels'>[];
  readonly requests: readonly Row<'requests'>[];
  readonly submissions: readonly Row<'submissions'>[];
  readonly keyValues: readonly Row<'kept'>[];
  /** What queries compare of the batches among `keyValues`. */
  readonly batches: readonly Row<'batches'>[];
  readonly batchLabels: readonly Row<'batch_labels'>[];
  readonly joined: readonly Row<'joined_jobs'>[];
  /** Ids of removed entries by kind. */
  readonly removedKeyValues: ReadonlyMap<string, readonly string[]>;
  readonly events: readonly EventRow[];
  /** Finished runs of flows that no other flow called; `index` is that of their event. */
  readonly flowRuns: readonly (Omit<Row<'flow_runs'>, 'seq'> & { readonly index: number })[];
  /** For each request, the index of its first event; null if it has none. */
  readonly offsets: readonly (number | null)[];
}

/** Merges the writes from `start` up to the next request of another kind; null if there is none at `start`. */
export function mergeWrites(requests: readonly WriteRequest[], start: number): MergedWrite | null {
  const sessions = new Map<string, Row<'sessions'>>();
  const labels = new Map<string, Row<'session_labels'>>();
  const sessionRequests = new Map<string, Row<'requests'>>();
  const submissions: Row<'submissions'>[] = [];
  const keyValues = new Map<string, { readonly kind: string; readonly id: string; readonly data: string | null }>();
  const joined: Row<'joined_jobs'>[] = [];
  const events: EventRow[] = [];
  const flowRuns: MergedWrite['flowRuns'][number][] = [];
  const offsets: (number | null)[] = [];
  for (const request of requests.slice(start)) {
    if (request.op !== 'write') break;
    for (const {
      id,
      mode,
      status,
      createdAt,
      batch,
      endedAt,
      attempt,
      outcome,
      lease,
      record,
      labels: own,
    } of request.records) {
      sessions.set(id, {
        id,
        mode,
        status,
        created_at: createdAt,
        batch,
        ended_at: endedAt,
        attempt,
        outcome,
        lease,
        record,
      });
      for (const [name, value] of own) labels.set(`${id} ${name}`, { session_id: id, name, value });
    }
    for (const { sessionId, caller, request: json } of request.requests) {
      sessionRequests.set(sessionId, { session_id: sessionId, caller, request: json });
    }
    for (const { key, sessionId, fingerprint } of request.submissions) {
      submissions.push({ key, session_id: sessionId, fingerprint });
    }
    for (const { kind, id, data } of request.keyValues) keyValues.set(`${kind} ${id}`, { kind, id, data });
    for (const { batchId: batch_id, job, name, flow, retries } of request.joined) {
      joined.push({
        batch_id,
        job,
        name: storable(name),
        flow: flow === null ? null : storable(flow),
        retries,
        state: 'queued',
        attempt: 0,
        ended_at: null,
        outcome: null,
      });
    }
    offsets.push(request.events.length === 0 ? null : events.length);
    for (const event of request.events) {
      const run = flowRun(event);
      if (run !== null) flowRuns.push({ index: events.length, ...run });
      events.push(event);
    }
  }
  if (offsets.length === 0) return null;
  const entries = [...keyValues.values()];
  const removed = new Map<string, string[]>();
  for (const { kind, id, data } of entries) if (data === null) removed.set(kind, [...(removed.get(kind) ?? []), id]);
  const batches = entries.flatMap(({ kind, id, data }) => (kind === 'batch' && data !== null ? batchOf(id, data) : []));
  return {
    sessions: [...sessions.values()],
    labels: [...labels.values()],
    requests: [...sessionRequests.values()],
    submissions,
    keyValues: entries.flatMap(({ kind, id, data }) => (data === null ? [] : [{ kind, id, data }])),
    batches: batches.map(({ row }) => row),
    batchLabels: batches.flatMap(({ labels }) => labels),
    joined,
    removedKeyValues: removed,
    events,
    flowRuns,
    offsets,
  };
}

/** What queries compare of a batch; nothing if the entry is not a batch's. */
function batchOf(
  id: string,
  data: string,
): readonly { readonly row: Row<'batches'>; readonly labels: readonly Row<'batch_labels'>[] }[] {
  const batch = parseJson(data);
  if (typeof batch !== 'object' || batch === null) return [];
  const { createdAt, name, labels } = batch as { readonly [member: string]: unknown };
  if (typeof createdAt !== 'string') return [];
  const row = { id, created_at: createdAt, name: typeof name === 'string' ? storable(name) : null };
  const own = typeof labels === 'object' && labels !== null ? Object.entries(labels) : [];
  return [
    {
      row,
      labels: own.map(([name, value]) => ({ batch_id: id, name: storable(name), value: storable(String(value)) })),
    },
  ];
}

/** The row of the history for a FlowFinished event; null for other events and for flows that another flow called. */
function flowRun([session_id, at, type, data]: EventRow): Omit<Row<'flow_runs'>, 'seq'> | null {
  if (type !== 'FlowFinished') return null;
  const finished = parseJson(data);
  if (typeof finished !== 'object' || finished === null) return null;
  const { path, status, durationMs, depth, error } = finished as { readonly [member: string]: unknown };
  if (depth !== 1 || typeof path !== 'string' || typeof durationMs !== 'number') return null;
  if (status !== 'passed' && status !== 'failed') return null;
  return { flow: path, session_id, at, status, duration_ms: durationMs, code: codeOf(error) };
}

function codeOf(error: unknown): string | null {
  const known = ErrorBodySchema.safeParse(error);
  return known.success ? storable(causeOf(known.data).cause.code) : null;
}
