import Database from 'libsql';
import { TroupeError } from '../../protocol/errors.js';
import { makePrivate } from './open-database.js';
import { explainSqliteError } from './sqlite-errors.js';

/** How long to wait for the lock: a service that is shutting down may need this long to release it. */
const LOCK_WAIT_MS = 2_000;

/**
 * Keeps a home for one service if its journal is not a file there. Like that file, it is locked by SQLite's exclusive
 * mode: the operating system releases the lock even if the process is killed.
 */
export class HomeLock {
  /** Random; created with the file. Identifies the home, wherever it is moved. */
  readonly home: string;
  readonly #database: Database.Database;

  private constructor(database: Database.Database, home: string) {
    this.#database = database;
    this.home = home;
  }

  /** @throws UNAVAILABLE if another running service has the home, or the file cannot be written */
  static take(file: string): HomeLock {
    let database: Database.Database | null = null;
    try {
      makePrivate(file);
      database = new Database(file);
      // The lock is held from the first write until the file is closed.
      database.exec(
        `PRAGMA busy_timeout = ${LOCK_WAIT_MS}; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;
         CREATE TABLE IF NOT EXISTS home (id TEXT NOT NULL, starts INTEGER NOT NULL);
         INSERT INTO home SELECT lower(hex(randomblob(16))), 0 WHERE NOT EXISTS (SELECT 1 FROM home);
         UPDATE home SET starts = starts + 1;
         COMMIT`,
      );
      const id: unknown = Object(database.prepare('SELECT id FROM home').get([])).id;
      if (typeof id !== 'string') throw new TroupeError('INTERNAL', `${file} has no id`);
      return new HomeLock(database, id);
    } catch (error) {
      database?.close();
      throw explainSqliteError(file, error, 'The lock');
    }
  }

  /** Idempotent. */
  release(): void {
    if (this.#database.open) this.#database.close();
  }
}
