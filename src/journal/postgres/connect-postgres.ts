import { Kysely, PostgresDialect, type PostgresPoolClient, type PostgresQueryResult } from 'kysely';
import { Pool, type PoolClient, type QueryResult, types } from 'pg';
import { isStatementError } from './postgres-errors.js';

/** The longest that a statement may take, in milliseconds; the server ends it then. */
const STATEMENT_MS = 30_000;
/** This much later the client gives up: the server did not answer at all. */
const NO_ANSWER_MS = STATEMENT_MS + 5_000;
const LOCK_MS = 15_000;
/** A process that was stopped inside a transaction holds its locks no longer than this. */
const IDLE_IN_TRANSACTION_MS = 5_000;
/** For a new connection, and for waiting until one of the pool is free. */
const CONNECT_MS = 10_000;
const IDLE_CONNECTION_MS = 60_000;
const SET_UP = [
  `SET statement_timeout = ${STATEMENT_MS}`,
  `SET lock_timeout = ${LOCK_MS}`,
  `SET idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`,
].join('; ');
const INT8 = 20;
const NO_RESULT = { command: '', rowCount: 0, rows: [] };

/** Connections to a PostgreSQL database. */
export interface PostgresDatabase<Tables> {
  readonly kysely: Kysely<Tables>;
  /** Waits for running statements. Idempotent. */
  close(): Promise<void>;
}

/**
 * Connects on the first query. Every statement has a deadline. A connection that failed in any way but a refused
 * statement is closed, and the next query opens another one. Keeps no state in connections that a pooler such as
 * pgbouncer would lose.
 */
export function connectPostgres<Tables>(options: {
  readonly url: string;
  /** The most connections. */
  readonly connections: number;
  /** The name that `pg_stat_activity` shows. */
  readonly name: string;
}): PostgresDatabase<Tables> {
  const pool = new Pool({
    connectionString: options.url,
    max: options.connections,
    application_name: options.name,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    query_timeout: NO_ANSWER_MS,
    keepAlive: true,
    // Not in the connection's start: pgbouncer refuses parameters there that it does not know.
    onConnect: async (client) => void (await client.query(SET_UP)),
    types: { getTypeParser: (id, format) => (id === INT8 ? Number : types.getTypeParser(id, format)) },
  });
  // A connection that breaks while no one uses it; the pool has removed it.
  pool.on('error', () => undefined);
  // A connection that breaks while it is used: its query is rejected, too.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const connect = async () => checkedClient(await pool.connect());
  let closed: Promise<void> | null = null;
  const kysely = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: { connect, end: () => pool.end() } }),
  });
  return {
    kysely,
    close() {
      closed ??= kysely.destroy();
      return closed;
    },
  };
}

/** A client that leaves the pool when it is released after a failure. */
function checkedClient(client: PoolClient): PostgresPoolClient {
  let failure: Error | undefined;
  const query = async <R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> => {
    try {
      const results: QueryResult | readonly QueryResult[] = await client.query(text, [...parameters]);
      // A text of several statements has several results.
      const { command, rowCount, rows } = [results].flat().at(-1) ?? NO_RESULT;
      // Kysely asks for one of the five names, but compares only those of statements that change rows.
      return { command: command as PostgresQueryResult<R>['command'], rowCount: rowCount ?? 0, rows };
    } catch (error) {
      if (!isStatementError(error)) failure = error instanceof Error ? error : new Error(String(error));
      throw error;
    }
  };
  return {
    // Kysely calls it with a cursor only if the dialect was given one.
    query: query as PostgresPoolClient['query'],
    release: () => client.release(failure),
  };
}
