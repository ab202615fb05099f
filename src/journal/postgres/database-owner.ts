import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type QueryExecutorProvider, sql } from 'kysely';
import { TroupeError } from '../../protocol/errors.js';
import type { Schema } from '../schema.js';
import { connectPostgres, type PostgresDatabase } from './connect-postgres.js';
import { placeOf } from './postgres-errors.js';

/** How often the owner renews its row, and after how long without a renewal another service may take over. */
const RENEW_EVERY_MS = 5_000;
const EXPIRES_AFTER_MS = 30_000;
const SERVICE = 'service';
/** Of the owner or a node. */
const RENEWED = sql`seen >= clock_timestamp() - ${sql.lit(`${EXPIRES_AFTER_MS} ms`)}::interval`;

/** Who becomes the owner or a node does so alone: a key of PostgreSQL's advisory locks, released with the transaction. */
const MEMBERSHIP_LOCK = 0x54525551;

export async function lockMembership(transaction: QueryExecutorProvider): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(MEMBERSHIP_LOCK)})`.execute(transaction);
}

/** Whose service it is. */
export interface Owner {
  /** Fresh for each start of a service. */
  readonly token: string;
  /** Identifies the home folder: a new start on the same home replaces the former one at once. */
  readonly home: string;
}

export function newOwner(home: string): Owner {
  return { token: randomUUID(), home };
}

/**
 * The right of one service to use the database. It is a row with the owner's token, which the owner renews every 5 s;
 * without a renewal for 30 s, by the database's clock, a service of another home may replace it. Each transaction of the
 * owner locks the row and compares the token (see {@link lockedToken}), so an owner that was cut off or frozen writes
 * nothing once it has been replaced.
 */
export class DatabaseOwner {
  readonly owner: Owner;
  /** Resolves if another service has become the owner. Never rejects; stays pending after a release. */
  readonly lost: Promise<TroupeError>;
  readonly #url: string;
  readonly #database: PostgresDatabase<Schema>;
  readonly #timer: NodeJS.Timeout;
  #reportLoss: (error: TroupeError) => void = () => {};
  #renewing: Promise<void> | null = null;

  private constructor(url: string, database: PostgresDatabase<Schema>, owner: Owner) {
    this.#url = url;
    this.#database = database;
    this.owner = owner;
    this.lost = new Promise((resolve) => {
      this.#reportLoss = resolve;
    });
    this.#timer = setInterval(() => {
      this.#renewing ??= this.#renew().finally(() => {
        this.#renewing = null;
      });
    }, RENEW_EVERY_MS);
  }

  /**
   * Becomes the owner of a database that has the current schema.
   * @throws UNAVAILABLE if a service of another home is the owner; otherwise PostgreSQL's error
   */
  static async take(url: string, home: string): Promise<DatabaseOwner> {
    // A connection of its own: a renewal never waits behind slow reads.
    const database = connectPostgres<Schema>({ url, connections: 1, name: 'troupe owner' });
    try {
      const owner = newOwner(home);
      await database.kysely.transaction().execute((transaction) => takeOwnership(transaction, url, owner));
      return new DatabaseOwner(url, database, owner);
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /** Reports that a transaction found another token than the owner's. */
  replaced(): TroupeError {
    const error = new TroupeError(
      'UNAVAILABLE',
      `Another service has taken over the database ${placeOf(this.#url)}; this one writes nothing more and stops`,
    );
    this.#reportLoss(error);
    return error;
  }

  async #renew(): Promise<void> {
    try {
      const renewed = await this.#database.kysely
        .updateTable('owner')
        .set({ seen: sql<Date>`clock_timestamp()` })
        .where('token', '=', this.owner.token)
        .returning('token')
        .execute();
      if (renewed.length === 0) this.replaced();
    } catch {
      // The database is away: tried again at the next interval. If another service takes over meanwhile, the token is
      // gone, and the next transaction or renewal finds that out.
    }
  }

  /** Lets the next service start at once. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing;
    try {
      await releaseOwnership(this.#database.kysely, this.owner);
    } catch {
      // It expires, and a new start on the same home does not wait for that.
    } finally {
      await this.#database.close();
    }
  }
}

/**
 * In a `select`: the owner's token, or null if another service is the owner. Locks the row until the transaction ends, so
 * that no one becomes the owner before the commit; renewals do not wait for it.
 */
export function lockedToken({ token }: Owner): string {
  return `(SELECT token FROM owner WHERE token = '${token.replaceAll("'", '')}' FOR KEY SHARE)`;
}

/**
 * Makes a service the owner: of two that try at once, one succeeds. Nodes that shared the database and are frozen write
 * nothing any more: their claims are gone, and what they had is recovered from the sessions themselves.
 * @throws UNAVAILABLE if a service of another home is the owner, or a node is running
 */
export async function takeOwnership(kysely: QueryExecutorProvider, url: string, { token, home }: Owner): Promise<void> {
  await lockMembership(kysely);
  const { rows } = await sql`
    insert into owner (name, token, home, host, seen)
    select ${SERVICE}, ${token}, ${home}, ${hostname()}, clock_timestamp()
    where not exists (select 1 from cluster_nodes where ${RENEWED})
    on conflict (name) do update
    set token = excluded.token, home = excluded.home, host = excluded.host, seen = excluded.seen
    where owner.home = excluded.home
      or owner.seen < clock_timestamp() - ${sql.lit(`${EXPIRES_AFTER_MS} ms`)}::interval
    returning token`.execute(kysely);
  if (rows.length > 0) return endNodes(kysely);
  const nodes = await sql<{ id: string }>`select id from cluster_nodes where ${RENEWED} limit 1`.execute(kysely);
  if (nodes.rows[0] !== undefined) {
    throw new TroupeError(
      'UNAVAILABLE',
      `The database ${placeOf(url)} is shared by nodes, of which ${nodes.rows[0].id} is running; configure "node" in ` +
        'troupe.json to join them, or give this service a database of its own',
    );
  }
  const others = await sql<{ host: string }>`select host from owner where name = ${SERVICE}`.execute(kysely);
  const where = others.rows[0] === undefined ? '' : ` on ${others.rows[0].host}`;
  throw new TroupeError(
    'UNAVAILABLE',
    `The database ${placeOf(url)} is in use by another running service${where}; stop that service, or give this one a ` +
      `database of its own. A service that was killed counts as running for ${EXPIRES_AFTER_MS / 1000} s`,
  );
}

async function endNodes(kysely: QueryExecutorProvider): Promise<void> {
  await sql`update cluster_nodes set state = 'lost' where state <> 'lost'`.execute(kysely);
  await sql`delete from cluster_claims`.execute(kysely);
  await sql`delete from cluster_queue`.execute(kysely);
}

/**
 * For a service that shares the database with others: ends the ownership of a service that is gone.
 * @param home of this service: no other one can be running there
 * @throws UNAVAILABLE if a service that does not share it is running
 */
export async function endOwnership(kysely: QueryExecutorProvider, url: string, home: string): Promise<void> {
  await sql`delete from owner where home = ${home} or not ${RENEWED}`.execute(kysely);
  const host = await ownerHost(kysely);
  if (host === null) return;
  throw new TroupeError(
    'UNAVAILABLE',
    `The database ${placeOf(url)} is in use by a service on ${host} that has no "node" in its troupe.json; stop that ` +
      `service first. A service that was killed counts as running for ${EXPIRES_AFTER_MS / 1000} s`,
  );
}

/** The machine of the service that has the database for itself; null if there is none. */
export async function ownerHost(kysely: QueryExecutorProvider): Promise<string | null> {
  const { rows } = await sql<{ host: string }>`select host from owner limit 1`.execute(kysely);
  return rows[0]?.host ?? null;
}

export async function releaseOwnership(kysely: QueryExecutorProvider, { token }: Owner): Promise<void> {
  await sql`delete from owner where token = ${token}`.execute(kysely);
}
