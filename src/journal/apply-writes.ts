import type { Compilable, Insertable, Kysely } from 'kysely';
import { assertNever } from '../base/assert-never.js';
import type { Dialect } from './dialect.js';
import { type MergedWrite, mergeWrites } from './merge-writes.js';
import type { WriteRequest } from './messages.js';
import { BatchStore } from './queries/batch-store.js';
import { FlowRunStore } from './queries/flow-run-store.js';
import { JoinedStore } from './queries/joined-store.js';
import { KeyValueStore } from './queries/key-value-store.js';
import { ENDED } from './queries/session-store.js';
import { SuiteStore } from './queries/suite-store.js';
import type { Schema } from './schema.js';

/** Values in one `in` list: both databases bound the parameters of a statement. */
const IDS_AT_ONCE = 500;

/** Builds an insert of rows that all have the same columns in the same order. */
export type InsertRows<Row> = (kysely: Kysely<Schema>, rows: readonly Row[]) => Compilable;

/** An open transaction. */
export interface WriteTransaction {
  readonly kysely: Kysely<Schema>;
  readonly dialect: Dialect;
  /** Inserts the rows, in order, by as few or as many statements as suits the database. */
  insert<Row extends object>(build: InsertRows<Row>, rows: readonly Row[]): Promise<void>;
  /** The first of `count` consecutive event numbers, above all that were given out before. */
  takeEventNumbers(count: number): Promise<number>;
}

/** Applies requests in order. Returns the value of each: the number of its first event (0 if it has none), or that of a change. */
export async function applyWrites(
  transaction: WriteTransaction,
  requests: readonly WriteRequest[],
): Promise<readonly number[]> {
  const firstSeqs: number[] = [];
  for (let start = 0; start < requests.length; ) {
    const merged = mergeWrites(requests, start);
    const request = requests[start];
    if (merged !== null) {
      const first = await applyMerged(transaction, merged);
      for (const offset of merged.offsets) firstSeqs.push(offset === null ? 0 : first + offset);
      start += merged.offsets.length;
      continue;
    }
    firstSeqs.push(request === undefined ? 0 : await applyOther(transaction, request));
    start += 1;
  }
  return firstSeqs;
}

async function applyMerged(transaction: WriteTransaction, write: MergedWrite): Promise<number> {
  const { kysely } = transaction;
  await transaction.insert(upsertSessions, write.sessions);
  await transaction.insert(insertLabels, write.labels);
  await transaction.insert(upsertRequests, write.requests);
  // An ended session is never started again, so its request is deleted.
  const ended = write.sessions.filter(({ status }) => ENDED.has(status)).map(({ id }) => id);
  for (const ids of chunks(ended)) await kysely.deleteFrom('requests').where('session_id', 'in', ids).execute();
  await transaction.insert(insertSubmissions, write.submissions);
  await transaction.insert(upsertKeyValues, write.keyValues);
  await transaction.insert(insertBatches, write.batches);
  await transaction.insert(insertBatchLabels, write.batchLabels);
  await transaction.insert(insertJoinedJobs, write.joined);
  for (const [kind, removed] of write.removedKeyValues) {
    for (const ids of chunks(removed)) {
      await kysely.deleteFrom('kept').where('kind', '=', kind).where('id', 'in', ids).execute();
    }
  }
  if (write.events.length === 0) {
    await markRepaired(kysely, write.sessions);
    return 0;
  }
  // Last: with PostgreSQL, other nodes' events wait from here to the commit.
  const first = await transaction.takeEventNumbers(write.events.length);
  await transaction.insert(
    insertEvents,
    write.events.map(([session_id, at, type, data], index) => ({ seq: first + index, session_id, at, type, data })),
  );
  await transaction.insert(
    insertFlowRuns,
    write.flowRuns.map(({ index, ...run }) => ({ seq: first + index, ...run })),
  );
  await markRepaired(kysely, write.sessions);
  return first;
}

/** Marks the failed flows of jobs that a model completed: that is known when the job ends. */
async function markRepaired(kysely: WriteTransaction['kysely'], sessions: MergedWrite['sessions']): Promise<void> {
  for (const { id, created_at } of sessions.filter(({ outcome }) => outcome === 'repaired')) {
    const failed = kysely.updateTable('flow_runs').set({ status: 'repaired' }).where('at', '>=', created_at);
    await failed.where('session_id', '=', id).where('status', '=', 'failed').execute();
  }
}

/** @returns the value of the request */
async function applyOther({ kysely, dialect }: WriteTransaction, request: WriteRequest): Promise<number> {
  switch (request.op) {
    case 'joined':
      return new JoinedStore(kysely, dialect).change(request.change);
    case 'suite':
      return new SuiteStore(kysely, dialect).change(request.change);
    case 'amend': {
      const { sessionId, record } = request;
      const known = kysely.updateTable('sessions').set({ record }).where('id', '=', sessionId);
      await known.where('status', 'in', [...ENDED]).execute();
      return 0;
    }
    case 'remove': {
      const id = request.sessionId;
      await kysely.deleteFrom('sessions').where('id', '=', id).execute();
      for (const table of ['requests', 'events', 'submissions', 'session_labels'] as const) {
        await kysely.deleteFrom(table).where('session_id', '=', id).execute();
      }
      await new KeyValueStore(kysely).removeOfSession(id);
      return 0;
    }
    case 'removeBatch':
      await new BatchStore(kysely, dialect).remove(request.batchId);
      return 0;
    case 'prune': {
      const batches = new BatchStore(kysely, dialect);
      await new FlowRunStore(kysely).removeBefore(request.runsBefore);
      await batches.removeEmpty(request);
      await batches.removeOrphanedWebhooks();
      return 0;
    }
    case 'write':
      return 0;
    default:
      return assertNever(request);
  }
}

type Row<Table extends keyof Schema> = Insertable<Schema[Table]>;

const upsertSessions: InsertRows<Row<'sessions'>> = (kysely, rows) =>
  kysely
    .insertInto('sessions')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((row) => ({
        status: row.ref('excluded.status'),
        ended_at: row.ref('excluded.ended_at'),
        attempt: row.ref('excluded.attempt'),
        outcome: row.ref('excluded.outcome'),
        lease: row.ref('excluded.lease'),
        record: row.ref('excluded.record'),
      })),
    );

/** Labels do not change after a session was accepted. */
const insertLabels: InsertRows<Row<'session_labels'>> = (kysely, rows) =>
  kysely
    .insertInto('session_labels')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['session_id', 'name']).doNothing());

const upsertRequests: InsertRows<Row<'requests'>> = (kysely, rows) =>
  kysely
    .insertInto('requests')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('session_id').doUpdateSet((row) => ({
        caller: row.ref('excluded.caller'),
        request: row.ref('excluded.request'),
      })),
    );

const insertSubmissions: InsertRows<Row<'submissions'>> = (kysely, rows) =>
  kysely.insertInto('submissions').values(rows);

const upsertKeyValues: InsertRows<Row<'kept'>> = (kysely, rows) =>
  kysely
    .insertInto('kept')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['kind', 'id']).doUpdateSet((row) => ({ data: row.ref('excluded.data') })),
    );

/** Name, labels and creation of a batch do not change. */
const insertBatches: InsertRows<Row<'batches'>> = (kysely, rows) =>
  kysely
    .insertInto('batches')
    .values(rows)
    .onConflict((conflict) => conflict.column('id').doNothing());

const insertBatchLabels: InsertRows<Row<'batch_labels'>> = (kysely, rows) =>
  kysely
    .insertInto('batch_labels')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['batch_id', 'name']).doNothing());

const insertJoinedJobs: InsertRows<Row<'joined_jobs'>> = (kysely, rows) =>
  kysely.insertInto('joined_jobs').values(rows);

const insertEvents: InsertRows<Row<'events'>> = (kysely, rows) => kysely.insertInto('events').values(rows);

const insertFlowRuns: InsertRows<Row<'flow_runs'>> = (kysely, rows) => kysely.insertInto('flow_runs').values(rows);

function* chunks<T>(values: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < values.length; start += IDS_AT_ONCE) yield values.slice(start, start + IDS_AT_ONCE);
}
