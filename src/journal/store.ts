import { Kysely, SqliteDialect, sql } from 'kysely';
import type Database from 'libsql';
import { assertNever } from '../base/assert-never.js';
import { TroupeError } from '../protocol/errors.js';
import { BatchStore } from './batch-store.js';
import { EventStore } from './event-store.js';
import { FlowRunStore } from './flow-run-store.js';
import type {
  JournalReads,
  KeyValueKind,
  SessionQuery,
  SessionRow,
  StatusCounts,
  Submission,
  WriteRequest,
} from './messages.js';
import { freshDatabase, openDatabase } from './open-database.js';
import { RequestStore } from './request-store.js';
import { copyReadable, isDamaged, type SalvagedTable, salvagedFile } from './salvage.js';
import type { Schema } from './schema.js';
import { explainSqliteError } from './sqlite-errors.js';

/** Sorts after every character that an id may contain. */
const LAST = '\u{10ffff}';

const SESSION_COLUMNS = ['id', 'mode', 'status', 'created_at as createdAt', 'batch', 'record', 'lease'] as const;

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'stopped']);

/**
 * The SQLite database. Runs on the journal's thread, which it may block. While it is open, no other process can open
 * the
 * file: SQLite's exclusive locking mode holds a lock that the operating system releases even if the process is killed.
 *
 * Nothing else in this process may open the file, not even to read its header: closing any descriptor of a file drops
 * the process's POSIX locks on it.
 */
export class Store {
  /** The read operations that the owner can call. */
  readonly reads: JournalReads;
  readonly #batches: BatchStore;
  readonly #flowRuns: FlowRunStore;
  readonly #requests: RequestStore;
  readonly #database: Database.Database;
  readonly #kysely: Kysely<Schema>;
  readonly #statements: ReturnType<typeof prepareWrites>;

  private constructor(database: Database.Database) {
    this.#database = database;
    this.#kysely = new Kysely<Schema>({ dialect: new SqliteDialect({ database }) });
    this.#statements = prepareWrites(database, this.#kysely);
    const batches = new BatchStore(database, this.#kysely);
    const flowRuns = new FlowRunStore(database, this.#kysely);
    const requests = new RequestStore(database, this.#kysely);
    const events = new EventStore(database, this.#kysely);
    this.#batches = batches;
    this.#flowRuns = flowRuns;
    this.#requests = requests;
    this.reads = {
      get: (id) => this.#get(id),
      list: (query) => this.#list(query),
      running: () => this.#running(),
      waiting: () => requests.waiting(),
      request: (sessionId) => requests.get(sessionId),
      statusCounts: (failedSince) => this.#statusCounts(failedSince),
      submission: (key) => this.#submission(key),
      keyValues: (kind, prefix) => this.#keyValues(kind, prefix),
      events: async (query) => events.list(query),
      openBatches: () => batches.open(),
      batchCounts: (id) => batches.count(id),
      batchPage: (query) => batches.page(query),
      batchEnds: (id, upTo) => batches.ends(id, upTo),
      endedBefore: (instant, limit) => this.#endedBefore(instant, limit),
      flowRuns: (query) => flowRuns.list(query),
    };
  }

  /**
   * Opens the file. If it is damaged, copies its readable rows to {@link salvagedFile} and returns what was copied.
   * @throws UNAVAILABLE with the reason and the remedy; the file is then closed
   */
  static open(file: string): Store | readonly SalvagedTable[] {
    try {
      const database = openDatabase(file);
      if (!isDamaged(database, file)) return new Store(database);
      return copyReadable(database, freshDatabase(salvagedFile(file)));
    } catch (error) {
      throw explainSqliteError(file, error);
    }
  }

  /** The id that was created with the file, and the newest event's number (0 if there was never one). */
  async identity(): Promise<{ readonly instance: string; readonly lastSeq: number }> {
    const row = await this.#kysely
      .selectFrom('meta')
      .select('value')
      .where('key', '=', 'instance')
      .executeTakeFirstOrThrow();
    // From the sequence, not the greatest row: the newest event may have been removed with its session.
    const last = await this.#kysely
      .selectFrom('sqlite_sequence')
      .select('seq')
      .where('name', '=', 'events')
      .executeTakeFirst();
    return { instance: row.value, lastSeq: last?.seq ?? 0 };
  }

  /**
   * Runs all requests, in order, in one transaction, which is on disk when this returns. Returns the number of each
   * request's first event (0 if it has none). If it throws, nothing was written.
   */
  commit(requests: readonly WriteRequest[]): readonly number[] {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const firstSeqs = requests.map((request) => this.#apply(request));
      this.#database.exec('COMMIT');
      return firstSeqs;
    } catch (error) {
      // On a full disk or a failed write, SQLite rolls the transaction back by itself.
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #apply(request: WriteRequest): number {
    const {
      upsert,
      insert,
      submit,
      setKeyValue,
      removeKeyValue,
      removeSession,
      removeEvents,
      removeSubmissions,
      removeKeyValues,
    } = this.#statements;
    switch (request.op) {
      case 'remove':
        removeSession.run([request.sessionId]);
        this.#requests.remove(request.sessionId);
        removeEvents.run([request.sessionId]);
        removeSubmissions.run([request.sessionId]);
        for (const kind of ['delivery', 'delivered']) {
          removeKeyValues.run([kind, `${request.sessionId}/`, `${request.sessionId}/${LAST}`]);
        }
        removeKeyValue.run(['value', request.sessionId]);
        return 0;
      case 'removeBatch':
        this.#batches.remove(request.batchId);
        return 0;
      case 'prune':
        this.#flowRuns.removeBefore(request.runsBefore);
        this.#batches.removeEmpty(request.batchesBefore);
        this.#batches.removeOrphanedWebhooks();
        return 0;
      case 'write':
        break;
      default:
        return assertNever(request);
    }
    for (const row of request.records) {
      upsert.run([row.id, row.mode, row.status, row.createdAt, row.batch, row.lease, row.record]);
      // An ended session is never started again, so its request is deleted.
      if (ENDED.has(row.status)) this.#requests.remove(row.id);
    }
    for (const row of request.requests) this.#requests.add(row);
    for (const { key, sessionId, fingerprint } of request.submissions) submit.run([key, sessionId, fingerprint]);
    for (const { kind, id, data } of request.keyValues) {
      if (data === null) removeKeyValue.run([kind, id]);
      else setKeyValue.run([kind, id, data]);
    }
    let firstSeq = 0;
    for (const row of request.events) {
      const seq = Number(insert.run(row).lastInsertRowid);
      if (firstSeq === 0) firstSeq = seq;
      if (row[2] === 'FlowFinished') this.#flowRuns.add(seq);
    }
    return firstSeq;
  }

  async #get(id: string): Promise<readonly SessionRow[]> {
    return this.#kysely.selectFrom('sessions').select(SESSION_COLUMNS).where('id', '=', id).execute();
  }

  /** @throws INVALID_REQUEST if no session has the id `before` (any more) */
  async #list(query: SessionQuery): Promise<readonly SessionRow[]> {
    const direction = query.oldestFirst === true ? 'asc' : 'desc';
    let select = this.#kysely
      .selectFrom('sessions')
      .select(SESSION_COLUMNS)
      .orderBy('created_at', direction)
      .orderBy('accepted', direction)
      .limit(query.limit);
    if (query.batch !== undefined) select = select.where('batch', '=', query.batch);
    if (query.state !== undefined) select = select.where('status', '=', query.state);
    if (query.mode !== undefined) select = select.where('mode', '=', query.mode);
    for (const { name, value } of query.labels ?? []) {
      const same = value === null ? sql`` : sql`and value = ${value}`;
      select = select.where(
        sql<boolean>`exists (select 1 from json_each(record, '$.labels') where key = ${name} ${same})`,
      );
    }
    if (query.before !== undefined) {
      const before = await this.#kysely
        .selectFrom('sessions')
        .select(['created_at', 'accepted'])
        .where('id', '=', query.before)
        .executeTakeFirst();
      if (before === undefined) {
        const message = 'there is no such session';
        throw new TroupeError('INVALID_REQUEST', `"before": ${message}`, { issues: [{ path: 'before', message }] });
      }
      select = select.where((where) =>
        where(
          where.refTuple('created_at', 'accepted'),
          direction === 'asc' ? '>' : '<',
          where.tuple(before.created_at, before.accepted),
        ),
      );
    }
    return select.execute();
  }

  /** Running sessions, and queued ones whose record is unreadable, in the order in which they were accepted. */
  async #running(): Promise<readonly SessionRow[]> {
    return this.#kysely
      .selectFrom('sessions')
      .select(SESSION_COLUMNS)
      .where(sql<boolean>`status = 'running' OR (status = 'queued' AND NOT json_valid(record))`)
      .orderBy('accepted')
      .execute();
  }

  async #statusCounts(failedSince: string): Promise<StatusCounts> {
    const sessions = this.#kysely.selectFrom('sessions');
    const rows = await sessions
      .select(['status', ({ fn }) => fn.countAll<number>().as('sessions')])
      .groupBy('status')
      .execute();
    const { failed } = await sessions
      .select(({ fn }) => fn.countAll<number>().as('failed'))
      .where('status', '=', 'failed')
      .where(sql<boolean>`record ->> 'endedAt' >= ${failedSince}`)
      .executeTakeFirstOrThrow();
    const counts = Object.fromEntries(rows.map(({ status, sessions }) => [status, Number(sessions)]));
    return { counts, failed: Number(failed) };
  }

  /** Sessions that ended before `instant`, oldest first. */
  async #endedBefore(instant: string, limit: number): Promise<readonly SessionRow[]> {
    return (
      this.#kysely
        .selectFrom('sessions')
        .select(SESSION_COLUMNS)
        .where('status', 'in', [...ENDED])
        // A session ends after it was created, and created_at is indexed.
        .where('created_at', '<', instant)
        .where(sql<boolean>`record ->> 'endedAt' < ${instant}`)
        .orderBy('created_at')
        .limit(limit)
        .execute()
    );
  }

  async #submission(key: string): Promise<readonly Submission[]> {
    return this.#kysely
      .selectFrom('submissions')
      .select(['key', 'session_id as sessionId', 'fingerprint'])
      .where('key', '=', key)
      .execute();
  }

  /** All entries of a kind whose id begins with `prefix`, sorted by id. */
  async #keyValues(
    kind: KeyValueKind,
    prefix: string,
  ): Promise<readonly { readonly id: string; readonly data: string }[]> {
    return this.#kysely
      .selectFrom('kept')
      .select(['id', 'data'])
      .where('kind', '=', kind)
      .where('id', '>=', prefix)
      .where('id', '<', `${prefix}${LAST}`)
      .orderBy('id')
      .execute();
  }

  /** Checkpoints the write-ahead log into the file, and releases the lock. */
  close(): void {
    this.#database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
    this.#database.close();
  }
}

/**
 * The statements of the hot path, compiled by Kysely and prepared once: compiling and preparing cost more than the
 * insert
 * itself. Values are bound in the order of the columns here.
 */
function prepareWrites(database: Database.Database, kysely: Kysely<Schema>) {
  const prepare = (query: { compile(): { readonly sql: string } }) => database.prepare(query.compile().sql);
  return {
    upsert: prepare(
      kysely
        .insertInto('sessions')
        .values({ id: '', mode: '', status: '', created_at: '', batch: '', lease: '', record: '' })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet((row) => ({
            status: row.ref('excluded.status'),
            lease: row.ref('excluded.lease'),
            record: row.ref('excluded.record'),
          })),
        ),
    ),
    insert: prepare(kysely.insertInto('events').values({ session_id: '', at: '', type: '', data: '' })),
    submit: prepare(kysely.insertInto('submissions').values({ key: '', session_id: '', fingerprint: '' })),
    setKeyValue: prepare(
      kysely
        .insertInto('kept')
        .values({ kind: '', id: '', data: '' })
        .onConflict((conflict) =>
          conflict.columns(['kind', 'id']).doUpdateSet((row) => ({ data: row.ref('excluded.data') })),
        ),
    ),
    removeKeyValue: prepare(kysely.deleteFrom('kept').where('kind', '=', '').where('id', '=', '')),
    removeKeyValues: prepare(
      kysely.deleteFrom('kept').where('kind', '=', '').where('id', '>=', '').where('id', '<', ''),
    ),
    removeSession: prepare(kysely.deleteFrom('sessions').where('id', '=', '')),
    removeEvents: prepare(kysely.deleteFrom('events').where('session_id', '=', '')),
    removeSubmissions: prepare(kysely.deleteFrom('submissions').where('session_id', '=', '')),
  };
}
