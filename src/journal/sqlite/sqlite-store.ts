import { Kysely, SqliteDialect } from 'kysely';
import type Database from 'libsql';
import type { TroupeError } from '../../protocol/errors.js';
import { applyWrites, type InsertRows } from '../apply-writes.js';
import { SQLITE } from '../dialect.js';
import type { JournalReads, WriteRequest } from '../messages.js';
import { journalReads } from '../queries/journal-reads.js';
import type { Schema } from '../schema.js';
import type { Store } from '../store.js';
import { freshDatabase, openDatabase } from './open-database.js';
import { copyReadable, isDamaged, type SalvagedTable, salvagedFile } from './salvage.js';
import { explainSqliteError } from './sqlite-errors.js';

/** The most prepared statements that are kept. Their texts vary only in the length of `in` lists. */
const MAX_STATEMENTS = 256;

/**
 * The SQLite database. Blocks the journal's thread, which has nothing else to do. While it is open, no other process can
 * open the file: SQLite's exclusive locking mode holds a lock that the operating system releases even if the process is
 * killed.
 *
 * Nothing else in this process may open the file, not even to read its header: closing any descriptor of a file drops
 * the process's POSIX locks on it.
 */
export class SqliteStore implements Store {
  readonly reads: JournalReads;
  readonly readsInParallel = false;
  /** The lock on the file ends with this process. */
  readonly lost = null;
  readonly #file: string;
  readonly #database: Database.Database;
  readonly #kysely: Kysely<Schema>;
  readonly #inserts = new Map<unknown, Database.Statement>();
  /** The newest event's number that was committed. No one else writes to the file. */
  #lastSeq: number;

  private constructor(file: string, database: Database.Database) {
    this.#file = file;
    this.#database = database;
    this.#kysely = new Kysely<Schema>({ dialect: new SqliteDialect({ database: keepingStatements(database) }) });
    this.#lastSeq = lastEventNumber(database);
    this.reads = journalReads(this.#kysely, SQLITE);
  }

  /**
   * Opens the file. If it is damaged, copies its readable rows to {@link salvagedFile} and returns what was copied.
   * @throws UNAVAILABLE with the reason and the remedy; the file is then closed
   */
  static open(file: string): SqliteStore | readonly SalvagedTable[] {
    try {
      const database = openDatabase(file);
      if (!isDamaged(database, file)) return new SqliteStore(file, database);
      return copyReadable(database, freshDatabase(salvagedFile(file)));
    } catch (error) {
      throw explainSqliteError(file, error);
    }
  }

  async identity(): Promise<{ readonly instance: string; readonly lastSeq: number }> {
    const row = await this.#kysely
      .selectFrom('meta')
      .select('value')
      .where('key', '=', 'instance')
      .executeTakeFirstOrThrow();
    return { instance: row.value, lastSeq: this.#lastSeq };
  }

  async commit(requests: readonly WriteRequest[]): Promise<readonly number[]> {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      let lastSeq = this.#lastSeq;
      const firstSeqs = await applyWrites(
        {
          kysely: this.#kysely,
          dialect: SQLITE,
          insert: async (build, rows) => this.#insert(build, rows),
          takeEventNumbers: async (count) => {
            lastSeq += count;
            return lastSeq - count + 1;
          },
        },
        requests,
      );
      this.#database.exec('COMMIT');
      this.#lastSeq = lastSeq;
      return firstSeqs;
    } catch (error) {
      // On a full disk or a failed write, SQLite rolls the transaction back by itself.
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  /** One statement for each row, compiled and prepared once: both cost more than the insert itself. */
  #insert<Row extends object>(build: InsertRows<Row>, rows: readonly Row[]): void {
    const [first] = rows;
    if (first === undefined) return;
    let statement = this.#inserts.get(build);
    if (statement === undefined) {
      statement = this.#database.prepare(build(this.#kysely, [first]).compile().sql);
      this.#inserts.set(build, statement);
    }
    for (const row of rows) statement.run(Object.values(row));
  }

  explain(error: unknown): TroupeError {
    return explainSqliteError(this.#file, error);
  }

  concernsAll(): boolean {
    return false;
  }

  isAway(): boolean {
    return false;
  }

  /** Checkpoints the write-ahead log into the file, and releases the lock. */
  async close(): Promise<void> {
    this.#database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
    this.#database.close();
  }
}

/** From the sequence, not the greatest row: the newest event may have been removed with its session. */
function lastEventNumber(database: Database.Database): number {
  const row: unknown = database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'").get([]);
  const seq: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, 'seq') : undefined;
  return typeof seq === 'number' ? seq : 0;
}

/** Prepares each text once for Kysely, which prepares for every query. */
function keepingStatements(database: Database.Database) {
  const statements = new Map<string, Database.Statement>();
  return {
    prepare(text: string): Database.Statement {
      const known = statements.get(text);
      if (known !== undefined) return known;
      if (statements.size >= MAX_STATEMENTS) statements.clear();
      const statement = database.prepare(text);
      statements.set(text, statement);
      return statement;
    },
    close: () => database.close(),
  };
}
