import { linkSync, renameSync, statSync } from 'node:fs';
import type Database from 'libsql';
import { errorCode } from '../../base/system-fault.js';

/** Larger files are not checked at startup: reading them completely would delay the service too long. */
const MAX_CHECKED_BYTES = 256 * 1024 * 1024;

/** Rows that are copied per read while no read fails. */
const ROWS_AT_ONCE = 200;

/** How many rows a table may have lost at its end if nothing says how many it had. */
const UNKNOWN_END = 1_000_000;

/** How much of one table was copied. */
export interface SalvagedTable {
  readonly table: string;
  readonly kept: number;
  /** At most this many rows were lost; null if that is unknown. */
  readonly lost: number | null;
}

/** The file that readable rows are copied to. */
export function salvagedFile(file: string): string {
  return `${file}.salvaged`;
}

// Raw SQL throughout: table and column names are data here.

/** Tables whose rows have an integer key, and that key. */
const NUMBERED = { sessions: 'accepted', events: 'seq', flow_runs: 'seq' } as const;

/** Tables without an integer key, and the columns that they are sorted by. */
const KEYED = {
  meta: ['key'],
  submissions: ['key'],
  kept: ['kind', 'id'],
  requests: ['session_id'],
  session_labels: ['session_id', 'name'],
  batches: ['id'],
  batch_labels: ['batch_id', 'name'],
  joined_jobs: ['batch_id', 'job'],
  joined_attempts: ['batch_id', 'token'],
} as const;

/** Columns that contain JSON. A row with invalid JSON there counts as damaged. */
const JSON_COLUMNS: readonly string[] = ['record', 'request', 'lease', 'data'];

/** Whether pages of the file are unreadable or inconsistent. */
export function isDamaged(database: Database.Database, file: string): boolean {
  if (statSync(file).size > MAX_CHECKED_BYTES) return false;
  try {
    const [first] = database.prepare('PRAGMA quick_check(1)').all([]);
    return columnOf(first, 'quick_check') !== 'ok';
  } catch (error) {
    if (isCorrupt(error)) return true;
    throw error;
  }
}

export function isCorrupt(error: unknown): boolean {
  return errorCode(error)?.startsWith('SQLITE_CORRUPT') ?? false;
}

/** Copies all readable rows into an empty journal. */
export function copyReadable(from: Database.Database, to: Database.Database): readonly SalvagedTable[] {
  to.exec('BEGIN IMMEDIATE; DELETE FROM meta');
  const tables = [
    ...Object.entries(NUMBERED).map(([table, number]) => copyNumbered(from, to, table, number)),
    ...Object.entries(KEYED).map(([table, keys]) => copyKeyed(from, to, table, keys)),
  ];
  to.exec("INSERT OR IGNORE INTO meta VALUES ('instance', lower(hex(randomblob(8)))); COMMIT");
  to.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
  return tables;
}

/**
 * Replaces the damaged file with the salvaged one. Neither may be open.
 * @returns the new path of the damaged file
 */
export function replaceDamaged(file: string): string {
  const damaged = `${file}.damaged-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}`;
  // A journal exists at every moment: a service that is killed here finds the damaged file again.
  linkSync(file, damaged);
  try {
    renameSync(`${file}-wal`, `${damaged}-wal`);
  } catch {
    // There is no write-ahead log: everything is in the file.
  }
  renameSync(salvagedFile(file), file);
  return damaged;
}

/** One line for the log. */
export function describeSalvaged(file: string, damaged: string, tables: readonly SalvagedTable[]): string {
  const lost = tables.filter((table) => table.lost !== 0);
  const counts = lost.map(({ table, kept, lost: rows }) =>
    rows === null ? `an unknown number of ${table} (${kept} kept)` : `up to ${rows} of ${table} (${kept} kept)`,
  );
  const what = counts.length === 0 ? 'no row' : counts.join(', ');
  return `The journal ${file} was damaged: ${what} could not be read; the rest was kept, and the damaged file is ${damaged}`;
}

function copyNumbered(from: Database.Database, to: Database.Database, table: string, number: string): SalvagedTable {
  const end = highestKey(from, table, number);
  const insert = inserter(to, table);
  let kept = 0;
  let lost = 0;
  // Flow runs of joined batches have numbers below 0.
  let at = Math.min(0, lowestKey(from, table, number) - 1);
  const copyRow = (row: unknown): void => {
    at = numberOf(row, number);
    if (insert(row)) kept += 1;
    else lost += 1;
  };
  for (let many = ROWS_AT_ONCE; ; ) {
    const rows = tryRead(from, `SELECT * FROM ${table} WHERE ${number} > ? ORDER BY ${number} LIMIT ${many}`, [at]);
    if (rows !== null) {
      for (const row of rows) copyRow(row);
      if (rows.length < many) break;
      many = ROWS_AT_ONCE;
      continue;
    }
    if (many > 1) {
      many = 1;
      continue;
    }
    const next = nextReadable(from, table, number, at, end);
    lost += (next ?? end + 1) - at - 1;
    if (next === null) break;
    at = next - 1;
    many = ROWS_AT_ONCE;
  }
  const known = Math.max(at, end);
  to.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run([table]);
  if (table !== 'flow_runs') to.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run([table, known]);
  return { table, kept, lost };
}

/** The lowest key above the unreadable `at` from which reading works again; null if there is none. */
function nextReadable(from: Database.Database, table: string, number: string, at: number, end: number): number | null {
  const works = (start: number): boolean =>
    tryRead(from, `SELECT ${number} FROM ${table} WHERE ${number} >= ? ORDER BY ${number} LIMIT 1`, [start]) !== null;
  let bad = at + 1;
  let good = bad;
  for (let step = 1; ; step *= 2) {
    good = Math.min(bad + step, end + 1);
    if (works(good)) break;
    if (good > end) return null;
    bad = good;
  }
  while (good - bad > 1) {
    const middle = Math.floor((bad + good) / 2);
    if (works(middle)) good = middle;
    else bad = middle;
  }
  return good > end ? null : good;
}

/** The lowest key of a row; 1 if it cannot be read. */
function lowestKey(from: Database.Database, table: string, number: string): number {
  const [first] = tryRead(from, `SELECT ${number} FROM ${table} ORDER BY ${number} LIMIT 1`, []) ?? [];
  return numberOf(first, number) || 1;
}

/** The highest key that a row may have. */
function highestKey(from: Database.Database, table: string, number: string): number {
  const sequence = tryRead(from, 'SELECT seq FROM sqlite_sequence WHERE name = ?', [
    table === 'flow_runs' ? 'events' : table,
  ]);
  if (sequence !== null && sequence.length > 0) return numberOf(sequence[0], 'seq');
  if (sequence !== null && table !== 'flow_runs') return 0;
  const last = tryRead(from, `SELECT ${number} FROM ${table} ORDER BY ${number} DESC LIMIT 1`, []);
  return (last === null ? 0 : numberOf(last[0], number)) + UNKNOWN_END;
}

/** Copies rows from the start up to an unreadable one, then from the end back to it. */
function copyKeyed(
  from: Database.Database,
  to: Database.Database,
  table: string,
  keys: readonly string[],
): SalvagedTable {
  const insert = inserter(to, table);
  const columns = keys.join(', ');
  const marks = keys.map(() => '?').join(', ');
  let kept = 0;
  let lost = 0;
  const copy = (order: 'ASC' | 'DESC'): boolean => {
    const beyond = order === 'ASC' ? '>' : '<';
    const sort = keys.map((key) => `${key} ${order}`).join(', ');
    for (let last: readonly unknown[] | null = null; ; ) {
      const where = last === null ? '' : `WHERE (${columns}) ${beyond} (${marks})`;
      const rows = tryRead(from, `SELECT * FROM ${table} ${where} ORDER BY ${sort} LIMIT 1`, last ?? []);
      if (rows === null) return false;
      const [row] = rows;
      if (row === undefined) return true;
      last = keys.map((key) => columnOf(row, key));
      if (insert(row)) kept += 1;
      else lost += 1;
    }
  };
  if (copy('ASC')) return { table, kept, lost };
  copy('DESC');
  return { table, kept, lost: null };
}

/** Returns a function that inserts a row; it returns false if the row itself is damaged. */
function inserter(to: Database.Database, table: string): (row: unknown) => boolean {
  return (row) => {
    const entries: [string, unknown][] = Object.entries(Object(row));
    if (entries.some(([name, value]) => JSON_COLUMNS.includes(name) && !isJson(value))) return false;
    const names = entries.map(([name]) => name);
    const marks = names.map(() => '?').join(', ');
    try {
      const insert = to.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`);
      insert.run(entries.map(([, value]) => value));
      return true;
    } catch {
      return false;
    }
  };
}

function isJson(value: unknown): boolean {
  if (value === null) return true;
  if (typeof value !== 'string') return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

/** Null if the rows cannot be read. */
function tryRead(from: Database.Database, sql: string, values: readonly unknown[]): readonly unknown[] | null {
  try {
    return from.prepare(sql).all([...values]);
  } catch {
    return null;
  }
}

function columnOf(row: unknown, name: string): unknown {
  return typeof row === 'object' && row !== null ? Reflect.get(row, name) : undefined;
}

function numberOf(row: unknown, name: string): number {
  const value = columnOf(row, name);
  return typeof value === 'number' ? value : 0;
}
