import { type Kysely, sql } from 'kysely';
import type Database from 'libsql';
import { counted } from '../protocol/counted.js';
import { TroupeError } from '../protocol/errors.js';
import { connectPostgres } from './postgres/connect-postgres.js';
import { newOwner, releaseOwnership, takeOwnership } from './postgres/database-owner.js';
import { MIGRATION_LOCK, migratePostgres } from './postgres/migrate-postgres.js';
import { explainPostgresError, placeOf } from './postgres/postgres-errors.js';
import { parseJson, storable } from './rows.js';
import type { Schema } from './schema.js';
import { openDatabase } from './sqlite/open-database.js';
import { explainSqliteError } from './sqlite/sqlite-errors.js';

/** Rows that are read and written at once: a row may have megabytes. */
const ROWS_AT_ONCE = 100;
/** The name that `pg_stat_activity` shows. */
const NAME = 'troupe migrate';

/** The tables, and the columns by which their rows are read page by page. */
const TABLES = {
  sessions: ['accepted'],
  session_labels: ['session_id', 'name'],
  requests: ['session_id'],
  events: ['seq'],
  submissions: ['key'],
  kept: ['kind', 'id'],
  batches: ['id'],
  batch_labels: ['batch_id', 'name'],
  flow_runs: ['seq'],
  joined_jobs: ['batch_id', 'job'],
  joined_attempts: ['batch_id', 'token'],
} as const;

/** Columns with JSON that may contain sealed values. */
const SEALED_COLUMNS: ReadonlySet<string> = new Set(['request', 'data']);

type Row = { [column: string]: unknown };
type AnyTables = { [table: string]: Row };

/** How many rows of each table were copied. */
export type CopiedRows = { readonly [table: string]: number };

/**
 * Copies a SQLite journal that no service has open to an empty PostgreSQL database, in one transaction: if it fails,
 * nothing was copied, and it can be tried again. The file is brought to the current schema and otherwise left as it is.
 * @param reseal applied to the value of each JSON column that may contain sealed values
 * @throws UNAVAILABLE if either database cannot be used, INVALID_REQUEST if the target has rows
 */
export async function migrateFile(options: {
  readonly file: string;
  readonly database: string;
  reseal(value: unknown): unknown;
}): Promise<CopiedRows> {
  const { file, database: url, reseal } = options;
  const source = openSource(file);
  const target = connectPostgres<AnyTables>({ url, connections: 1, name: NAME });
  try {
    await makeTables(url);
    return await target.kysely.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(transaction);
      // A service that starts meanwhile waits for this row.
      const owner = newOwner(NAME + process.pid);
      await takeOwnership(transaction, url, owner);
      await assertEmpty(transaction, url);
      const copied: { [table: string]: number } = {};
      for (const [table, keys] of Object.entries(TABLES)) {
        copied[table] = await copyTable(source, transaction, table, keys, reseal);
        await assertCount(source, transaction, table, copied[table]);
      }
      await copyNumbers(source, transaction);
      await releaseOwnership(transaction, owner);
      return copied;
    });
  } catch (error) {
    throw explainPostgresError(url, error);
  } finally {
    source.close();
    await target.close();
  }
}

async function makeTables(url: string): Promise<void> {
  const { kysely, close } = connectPostgres<Schema>({ url, connections: 1, name: NAME });
  await migratePostgres(kysely, url).finally(close);
}

function openSource(file: string): Database.Database {
  try {
    return openDatabase(file);
  } catch (error) {
    throw explainSqliteError(file, error);
  }
}

async function copyTable(
  source: Database.Database,
  target: Kysely<AnyTables>,
  table: string,
  keys: readonly string[],
  reseal: (value: unknown) => unknown,
): Promise<number> {
  const columns = keys.join(', ');
  const first = `SELECT * FROM ${table} ORDER BY ${columns} LIMIT ${ROWS_AT_ONCE}`;
  const marks = keys.map(() => '?').join(', ');
  const next = `SELECT * FROM ${table} WHERE (${columns}) > (${marks}) ORDER BY ${columns} LIMIT ${ROWS_AT_ONCE}`;
  let copied = 0;
  for (let last: Row | null = null; ; ) {
    const rows: Row[] = (
      last === null ? source.prepare(first).all([]) : source.prepare(next).all(keys.map((key) => last?.[key]))
    ).map((row: unknown) => ({ ...Object(row) }));
    if (rows.length === 0) return copied;
    last = rows.at(-1) ?? null;
    await target
      .insertInto(table)
      .values(rows.map((row) => converted(row, reseal)))
      .execute();
    copied += rows.length;
  }
}

function converted(row: Row, reseal: (value: unknown) => unknown): Row {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => {
      if (typeof value !== 'string') return [column, value];
      const json = SEALED_COLUMNS.has(column) && value.includes('"sealed"') ? parseJson(value) : undefined;
      return [column, json === undefined ? storable(value) : JSON.stringify(reseal(json))];
    }),
  );
}

async function assertEmpty(target: Kysely<AnyTables>, url: string): Promise<void> {
  for (const table of Object.keys(TABLES)) {
    const row = await target.selectFrom(table).select(sql`1`.as('one')).limit(1).executeTakeFirst();
    if (row === undefined) continue;
    throw new TroupeError(
      'INVALID_REQUEST',
      `The database ${placeOf(url)} is not empty: its table ${table} has rows; migrate to a new, empty database`,
    );
  }
}

async function assertCount(
  source: Database.Database,
  target: Kysely<AnyTables>,
  table: string,
  copied: number,
): Promise<void> {
  const inSource = numberOf(source, `SELECT count(*) AS n FROM ${table}`, []);
  const { n } = await target
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  if (n === inSource && copied === inSource) return;
  throw new TroupeError(
    'INTERNAL',
    `The file has ${counted(inSource, 'row')} of ${table}, but ${n} were copied; nothing was kept. Is it still in use?`,
  );
}

/** Numbers that were given out are not given out again, and browsers of the former service are still its own. */
async function copyNumbers(source: Database.Database, target: Kysely<AnyTables>): Promise<void> {
  const given = 'SELECT seq AS n FROM sqlite_sequence WHERE name = ?';
  const events = numberOf(source, given, ['events']);
  await target.updateTable('counters').set({ value: events }).where('name', '=', 'events').execute();
  const sessions = numberOf(source, given, ['sessions']);
  if (sessions > 0) {
    await sql`select setval(pg_get_serial_sequence('sessions', 'accepted'), ${sql.lit(sessions)})`.execute(target);
  }
  const row: unknown = source.prepare("SELECT value FROM meta WHERE key = 'instance'").get([]);
  const instance: unknown = Object(row).value;
  if (typeof instance === 'string') {
    await target.updateTable('meta').set({ value: instance }).where('key', '=', 'instance').execute();
  }
}

function numberOf(source: Database.Database, text: string, values: readonly unknown[]): number {
  const row: unknown = source.prepare(text).get([...values]);
  const n: unknown = Object(row).n;
  return typeof n === 'number' ? n : 0;
}
