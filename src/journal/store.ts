import { Kysely, SqliteDialect, sql } from 'kysely';
import type Database from 'libsql';
import { assertNever } from '../base/assert-never.js';
import { TroupeError } from '../protocol/errors.js';
import { BatchStore } from './batch-store.js';
import { EventStore } from './event-store.js';
import { FlowRunStore } from './flow-run-store.js';
import type {
  JournalReads,
  KeptKind,
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

/** After every character that an id may have. */
const LAST = '\u{10ffff}';

const SESSION_COLUMNS = ['id', 'mode', 'status', 'created_at as createdAt', 'batch', 'record', 'lease'] as const;

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'stopped']);

/**
 * The SQLite file. Lives on the journal's thread, which it may block. While it is open nobody else can open the file:
 * SQLite's exclusive locking mode holds a lock that the system takes back even from a killed process.
 *
 * The file must not be opened by other means in this process (not even to read its header): closing any descriptor of
 * a file drops the process's POSIX locks on it.
 */
export class Store {
  /** What the owner may call. */
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
      kept: (kind, prefix) => this.#kept(kind, prefix),
      events: async (query) => events.list(query),
      openBatches: () => batches.open(),
      batchCounts: (id) => batches.count(id),
      batchEnds: (id, upTo) => batches.ends(id, upTo),
      endedBefore: (instant, limit) => this.#endedBefore(instant, limit),
      flowRuns: (query) => flowRuns.list(query),
    };
  }

  /**
   * A damaged file is not opened: what can be read of it is copied to {@link salvagedFile}, with an account of that.
   * @throws UNAVAILABLE with the reason and the remedy; the file is closed then
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

  /** What the owner must know of the file: its id, made with it, and the newest event's number (0: none yet). */
  async identity(): Promise<{ readonly instance: string; readonly lastSeq: number }> {
    const row = await this.#kysely
      .selectFrom('meta')
      .select('value')
      .where('key', '=', 'instance')
      .executeTakeFirstOrThrow();
    // The sequence and not the greatest row: the newest event may have been removed with its session.
    const last = await this.#kysely
      .selectFrom('sqlite_sequence')
      .select('seq')
      .where('name', '=', 'events')
      .executeTakeFirst();
    return { instance: row.value, lastSeq: last?.seq ?? 0 };
  }

  /**
   * All requests in one transaction, in order; on disk when it returns. Answers the number of each write's first event
   * (0 where it has none). Throws with nothing written.
   */
  commit(requests: readonly WriteRequest[]): readonly number[] {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const firstSeqs = requests.map((request) => this.#apply(request));
      this.#database.exec('COMMIT');
      return firstSeqs;
    } catch (error) {
      // A full disk or a failed write ends the transaction by itself.
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #apply(request: WriteRequest): number {
    const { upsert, insert, submit, keep, drop, removeSession, removeEvents, removeSubmissions, removeKept } =
      this.#statements;
    switch (request.op) {
      case 'remove':
        removeSession.run([request.sessionId]);
        this.#requests.forget(request.sessionId);
        removeEvents.run([request.sessionId]);
        removeSubmissions.run([request.sessionId]);
        for (const kind of ['delivery', 'delivered']) {
          removeKept.run([kind, `${request.sessionId}/`, `${request.sessionId}/${LAST}`]);
        }
        return 0;
      case 'removeBatch':
        this.#batches.remove(request.batchId);
        return 0;
      case 'prune':
        this.#flowRuns.forget(request.runsBefore);
        this.#batches.forget(request.batchesBefore);
        this.#batches.forgetWebhooks();
        return 0;
      case 'write':
        break;
      default:
        return assertNever(request);
    }
    for (const row of request.records) {
      upsert.run([row.id, row.mode, row.status, row.createdAt, row.batch, row.lease, row.record]);
      // Nobody begins it again: what its request held is gone from the disk with its end.
      if (ENDED.has(row.status)) this.#requests.forget(row.id);
    }
    for (const row of request.requests) this.#requests.add(row);
    for (const { key, sessionId, fingerprint } of request.submissions) submit.run([key, sessionId, fingerprint]);
    for (const { kind, id, data } of request.kept) {
      if (data === null) drop.run([kind, id]);
      else keep.run([kind, id, data]);
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

  /** @throws INVALID_REQUEST when `before` is not there (any more) */
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

  /** The sessions that run, and those that wait and cannot be read, in the order in which they were accepted. */
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

  /** Ended sessions whose end lies before an instant, the oldest first. */
  async #endedBefore(instant: string, limit: number): Promise<readonly SessionRow[]> {
    return (
      this.#kysely
        .selectFrom('sessions')
        .select(SESSION_COLUMNS)
        .where('status', 'in', [...ENDED])
        // Nothing ends before it was created, and of that there is an index.
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

  /** Everything of a kind whose id begins so, by id. */
  async #kept(kind: KeptKind, prefix: string): Promise<readonly { readonly id: string; readonly data: string }[]> {
    return this.#kysely
      .selectFrom('kept')
      .select(['id', 'data'])
      .where('kind', '=', kind)
      .where('id', '>=', prefix)
      .where('id', '<', `${prefix}${LAST}`)
      .orderBy('id')
      .execute();
  }

  /** Brings the log of changes into the file. The lock goes with it. */
  close(): void {
    this.#database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
    this.#database.close();
  }
}

/**
 * The statements of the hot path, written by Kysely once and kept prepared: compiling and preparing cost more than the
 * insert itself. Values are bound in the order in which the columns stand here.
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
    keep: prepare(
      kysely
        .insertInto('kept')
        .values({ kind: '', id: '', data: '' })
        .onConflict((conflict) =>
          conflict.columns(['kind', 'id']).doUpdateSet((row) => ({ data: row.ref('excluded.data') })),
        ),
    ),
    drop: prepare(kysely.deleteFrom('kept').where('kind', '=', '').where('id', '=', '')),
    removeKept: prepare(kysely.deleteFrom('kept').where('kind', '=', '').where('id', '>=', '').where('id', '<', '')),
    removeSession: prepare(kysely.deleteFrom('sessions').where('id', '=', '')),
    removeEvents: prepare(kysely.deleteFrom('events').where('session_id', '=', '')),
    removeSubmissions: prepare(kysely.deleteFrom('submissions').where('session_id', '=', '')),
  };
}
