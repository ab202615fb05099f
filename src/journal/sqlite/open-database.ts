import { closeSync, openSync, rmSync } from 'node:fs';
import Database from 'libsql';
import { TroupeError } from '../../protocol/errors.js';
import { APPLICATION_ID, MIGRATIONS } from '../migrations.js';

/** How long to wait for the lock: a service that is shutting down may need this long to release it. */
const LOCK_WAIT_MS = 2_000;
/** The write-ahead log is truncated to this size after a burst. */
const WAL_LIMIT_BYTES = 64 * 1024 * 1024;
/**
 * Opens a journal exclusively, creating it if there is none, and migrates it to the current schema.
 * @throws UNAVAILABLE for a file of another program or a newer version, otherwise SQLite's error; the file is then
 * closed
 */
export function openDatabase(file: string): Database.Database {
  let database: Database.Database | null = null;
  try {
    makePrivate(file);
    database = new Database(file);
    database.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
    // Set before the first read: WAL then keeps its index in memory, and the lock is held while the file is open.
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    migrate(database, file);
    database.exec(`PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES}`);
    return database;
  } catch (error) {
    database?.close();
    throw error;
  }
}

/** Creates the file readable by its user only, since it contains page content. SQLite gives the log the same mode. */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'ax', 0o600));
  } catch {
    // The file exists already, or SQLite will report why it cannot be created.
  }
}

function migrate(database: Database.Database, file: string): void {
  const applicationId = pragma(database, 'application_id');
  const version = pragma(database, 'user_version');
  if (applicationId !== APPLICATION_ID && (applicationId !== 0 || version !== 0 || hasTables(database))) {
    throw new TroupeError('UNAVAILABLE', `The journal ${file} is the database of another program; choose another file`);
  }
  if (version > MIGRATIONS.length) {
    throw new TroupeError(
      'UNAVAILABLE',
      `The journal ${file} was written by a newer Troupe (its version is ${version}, this one knows ${MIGRATIONS.length}); update Troupe`,
    );
  }
  database.prepare('PRAGMA journal_mode = WAL').all();
  database.exec('PRAGMA synchronous = FULL');
  MIGRATIONS.slice(version).forEach(({ sqlite }, index) => {
    database.exec(
      `BEGIN IMMEDIATE; ${sqlite};
       PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version + index + 1}; COMMIT`,
    );
  });
  // Write even if there was nothing to migrate: an unwritable or locked file must be reported now, not at the first
  // job.
  database.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`);
}

function pragma(database: Database.Database, name: string): number {
  const row: unknown = database.prepare(`PRAGMA ${name}`).get([]);
  const value: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, name) : undefined;
  if (typeof value !== 'number') throw new TroupeError('INTERNAL', `PRAGMA ${name} did not return a number`);
  return value;
}

function hasTables(database: Database.Database): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').all([]).length > 0;
}

/** Creates an empty journal, removing an existing one. */
export function freshDatabase(file: string): Database.Database {
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  return openDatabase(file);
}
