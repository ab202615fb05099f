import { type Kysely, sql } from 'kysely';
import { TroupeError } from '../../protocol/errors.js';
import { MIGRATIONS } from '../migrations.js';
import type { Schema } from '../schema.js';
import { placeOf } from './postgres-errors.js';
import { schemaVerdict } from './schema-verdict.js';

const OLDEST_SERVER = 140_000;
/** One migration at a time, of all nodes: a key of PostgreSQL's advisory locks; the letters TRUP. */
export const MIGRATION_LOCK = 0x54525550;

/**
 * Brings the database to the current schema, in one transaction.
 * @throws UNAVAILABLE for a server that is too old, a database of another program, and a schema that is newer by more
 *   than one version; otherwise PostgreSQL's error
 */
export async function migratePostgres(kysely: Kysely<Schema>, url: string): Promise<void> {
  const server = await first<{ version: number; name: string }>(
    kysely,
    sql`select current_setting('server_version_num')::int as version, current_setting('server_version') as name`,
  );
  if (server.version < OLDEST_SERVER) {
    throw unusable(url, `is PostgreSQL ${server.name}; Troupe needs version 14 or later`);
  }
  await kysely.transaction().execute(async (transaction) => {
    // Released with the transaction, also behind a pooler.
    await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(transaction);
    const version = await schemaVersion(transaction, url);
    if (version > MIGRATIONS.length + 1) {
      throw unusable(
        url,
        `was written by a newer Troupe (its version is ${version}, this one knows ${MIGRATIONS.length}); update Troupe`,
      );
    }
    schemaVerdict(MIGRATIONS.length, version, await schemasOfNodes(transaction));
    for (const { postgres } of MIGRATIONS.slice(version)) {
      if (postgres !== '') await sql.raw(postgres).execute(transaction);
    }
    // Write even if there was nothing to migrate: a read-only database must be reported now, not at the first job.
    await transaction
      .insertInto('meta')
      .values({ key: 'schema', value: String(Math.max(version, MIGRATIONS.length)) })
      .onConflict((conflict) => conflict.column('key').doUpdateSet((row) => ({ value: row.ref('excluded.value') })))
      .execute();
  });
}

/** 0 for an empty database, in which the table that holds the version is then created. */
async function schemaVersion(transaction: Kysely<Schema>, url: string): Promise<number> {
  const { tables, marked } = await first<{ tables: number; marked: number }>(
    transaction,
    sql`select count(*) as tables,
          count(*) filter (where table_name = 'meta' or table_name = 'session_labels') as marked
        from information_schema.tables
        where table_schema = current_schema() and table_type = 'BASE TABLE'`,
  );
  if (tables === 0) {
    await sql`create table meta (key text collate "C" primary key, value text not null)`.execute(transaction);
    return 0;
  }
  if (marked < 2) throw unusable(url, 'has tables of another program; create an empty database for Troupe');
  const row = await transaction.selectFrom('meta').select('value').where('key', '=', 'schema').executeTakeFirst();
  return Number(row?.value ?? 0);
}

/** What the nodes write that renewed within the last half minute. */
async function schemasOfNodes(transaction: Kysely<Schema>): Promise<readonly number[]> {
  const { known } = await first<{ known: boolean }>(
    transaction,
    sql`select to_regclass('cluster_nodes') is not null as known`,
  );
  if (!known) return [];
  const { rows } = await sql<{ schema: number }>`
    select schema from cluster_nodes where seen >= clock_timestamp() - interval '30 s'`.execute(transaction);
  return rows.map(({ schema }) => schema);
}

async function first<Row>(kysely: Kysely<Schema>, query: ReturnType<typeof sql<Row>>): Promise<Row> {
  const { rows } = await query.execute(kysely);
  const [row] = rows;
  if (row === undefined) throw new TroupeError('INTERNAL', 'PostgreSQL returned no row');
  return row;
}

function unusable(url: string, why: string): TroupeError {
  return new TroupeError('UNAVAILABLE', `The database ${placeOf(url)} ${why}`);
}
