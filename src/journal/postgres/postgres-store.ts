import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { CompiledQuery, type Kysely, sql } from 'kysely';
import { TroupeError } from '../../protocol/errors.js';
import { applyWrites, type InsertRows } from '../apply-writes.js';
import { type Dialect, POSTGRES, SHARED_POSTGRES } from '../dialect.js';
import type { JournalReads, WriteRequest } from '../messages.js';
import { journalReads } from '../queries/journal-reads.js';
import type { Schema } from '../schema.js';
import type { Store } from '../store.js';
import { applyRights } from './apply-rights.js';
import { connectPostgres, type PostgresDatabase } from './connect-postgres.js';
import { DatabaseOwner, endOwnership, lockedToken } from './database-owner.js';
import { lockJoined } from './lock-joined.js';
import { migratePostgres } from './migrate-postgres.js';
import { explainPostgresError, isAway, isCut, isOutage, isTransient } from './postgres-errors.js';

/** One writes, the others read. */
const CONNECTIONS = 5;
/** Rows of one insert. A statement has 65,535 parameters at most, and a row nine. */
const ROWS_AT_ONCE = 1_000;
/** Rows of the first read of a page of events: a round trip costs more than a few rows too many. */
const FIRST_ROWS = 32;
/** How long a transaction is tried again if the database goes away, in milliseconds; a restart takes about a second. */
const RETRY_MS = 3_000;
const RETRY_PAUSE_MS = 100;
const NOTHING_REFUSED: ReadonlyMap<number, TroupeError> = new Map();

/** A lock that keeps a home for one service. */
interface HeldHome {
  /** Identifies the home. */
  readonly home: string;
  release(): void;
}

/** The first row of a transaction. `token` is null if another service is the owner, or there is none. */
interface Begun {
  readonly token: string | null;
}

type Outcomes = readonly (number | TroupeError)[];

/** A transaction whose commit was sent, and whose answer never came. */
interface Unsettled {
  /** What it wrote to the row of this home's last commit. */
  readonly mark: string;
  /** By the ids of its requests. */
  readonly outcomes: ReadonlyMap<number, number | TroupeError>;
}

/** The journal in a PostgreSQL database. */
export class PostgresStore implements Store {
  readonly reads: JournalReads;
  readonly readsInParallel = true;
  readonly lost: Promise<TroupeError> | null;
  readonly #url: string;
  readonly #database: PostgresDatabase<Schema>;
  readonly #kysely: Kysely<Schema>;
  /** Null if several nodes share the database: each write then has rights of its own. */
  readonly #owner: DatabaseOwner | null;
  readonly #dialect: Dialect;
  readonly #lock: HeldHome;
  /** The key of the row in `meta` with the mark of the last commit, as a literal. */
  readonly #lastCommit: string;
  /** The last transaction failed because of the database: the next one is not tried for long. */
  #isDown = false;
  #unsettled: Unsettled | null = null;

  private constructor(url: string, database: PostgresDatabase<Schema>, owner: DatabaseOwner | null, lock: HeldHome) {
    this.#url = url;
    this.#lock = lock;
    this.#owner = owner;
    this.#dialect = owner === null ? SHARED_POSTGRES : POSTGRES;
    this.lost = owner?.lost ?? null;
    this.#lastCommit = lastCommitOf(lock);
    this.#database = database;
    this.#kysely = database.kysely;
    this.reads = triedAgain(journalReads(this.#kysely, this.#dialect, FIRST_ROWS));
  }

  /**
   * @param lock of the service's home; released when the store is closed or cannot be opened
   * @param options.isShared other services may use the database at the same time; see `WriteRights`
   * @throws UNAVAILABLE with the reason and the remedy, also if another service uses the database; there are then no
   *   connections left
   */
  static async open(url: string, lock: HeldHome, { isShared = false } = {}): Promise<PostgresStore> {
    const database = connectPostgres<Schema>({ url, connections: CONNECTIONS, name: 'troupe journal' });
    try {
      await migratePostgres(database.kysely, url);
      if (isShared) await endOwnership(database.kysely, url, lock.home);
      // The row exists from the start, so that whoever asks for it waits for the transaction that writes it.
      await sql.raw(`${markWith(lastCommitOf(lock), '')} DO NOTHING`).execute(database.kysely);
      const owner = isShared ? null : await DatabaseOwner.take(url, lock.home);
      return new PostgresStore(url, database, owner, lock);
    } catch (error) {
      await database.close();
      lock.release();
      throw explainPostgresError(url, error);
    }
  }

  async identity(): Promise<{ readonly instance: string; readonly lastSeq: number }> {
    const kysely = this.#kysely;
    const meta = await kysely
      .selectFrom('meta')
      .select('value')
      .where('key', '=', 'instance')
      .executeTakeFirstOrThrow();
    const counter = await kysely
      .selectFrom('counters')
      .select('value')
      .where('name', '=', 'events')
      .executeTakeFirstOrThrow();
    return { instance: meta.value, lastSeq: counter.value };
  }

  /**
   * Tries again, for {@link RETRY_MS}, if the database was away before the commit was sent. While it is down, each
   * connection of the pool may be found cut once.
   */
  async commit(requests: readonly WriteRequest[]): Promise<Outcomes> {
    let cutsLeft = CONNECTIONS;
    const deadline = performance.now() + (this.#isDown ? 0 : RETRY_MS);
    for (let pauseMs = RETRY_PAUSE_MS; ; pauseMs *= 2) {
      try {
        const outcomes = (await this.#settled(requests, deadline)) ?? (await this.#transact(requests));
        this.#isDown = false;
        return outcomes;
      } catch (error) {
        const isLate = performance.now() + pauseMs > deadline;
        if (isLate && isCut(error)) cutsLeft -= 1;
        if (!isTransient(error) || (isLate && (!isCut(error) || cutsLeft < 0))) {
          this.#isDown = isOutage(error);
          throw error;
        }
      }
      await pause(pauseMs);
    }
  }

  /** One round trip. */
  #begin(mark: string): CompiledQuery<Begun> {
    const marked = `${markWith(this.#lastCommit, mark)} DO UPDATE SET value = excluded.value`;
    const token = this.#owner === null ? 'NULL' : lockedToken(this.#owner.owner);
    return CompiledQuery.raw(`BEGIN; ${marked}; SELECT ${token} AS token`);
  }

  #transact(requests: readonly WriteRequest[]): Promise<Outcomes> {
    return this.#kysely.connection().execute(async (kysely) => {
      try {
        const mark = randomUUID();
        const { rows } = await kysely.executeQuery(this.#begin(mark));
        if (this.#owner !== null && rows[0]?.token !== this.#owner.owner.token) throw this.#owner.replaced();
        const refused = this.#owner === null ? await applyRights(kysely, requests) : NOTHING_REFUSED;
        if (this.#owner === null) await lockJoined(kysely, requests);
        const insert = <Row extends object>(build: InsertRows<Row>, rows: readonly Row[]) =>
          insertInParts(kysely, build, rows);
        const takeEventNumbers = (count: number) => takeNumbers(kysely, count);
        const transaction = { kysely, dialect: this.#dialect, insert, takeEventNumbers };
        const valid = refused.size === 0 ? requests : requests.filter((_, index) => !refused.has(index));
        const firstSeqs = (await applyWrites(transaction, valid)).values();
        const outcomes = requests.map((_, index) => refused.get(index) ?? firstSeqs.next().value ?? 0);
        const byId = new Map(requests.map(({ id }, index) => [id, outcomes[index] ?? 0]));
        this.#unsettled = { mark, outcomes: byId };
        await kysely.executeQuery(CompiledQuery.raw('COMMIT'));
        this.#unsettled = null;
        return outcomes;
      } catch (error) {
        if (!isOutage(error)) this.#unsettled = null;
        // A lost connection rolls back by itself; its own error is the one that counts.
        await kysely.executeQuery(CompiledQuery.raw('ROLLBACK')).catch(() => undefined);
        throw error;
      }
    });
  }

  /**
   * What became of the last transaction if its commit was not answered; null if it was not committed, or was about other
   * requests.
   * @throws UNAVAILABLE if that cannot be found out in time
   */
  async #settled(requests: readonly WriteRequest[], deadline: number): Promise<Outcomes | null> {
    const sent = this.#unsettled;
    if (sent === null) return null;
    const outcomes = requests.flatMap(({ id }) => sent.outcomes.get(id) ?? []);
    const isCommitted = outcomes.length === requests.length && (await this.#wasCommitted(sent.mark, deadline));
    this.#unsettled = null;
    return isCommitted ? outcomes : null;
  }

  /**
   * Not by the transaction's number: one that was lost with the server leaves its number to another. The lock waits for the
   * transaction if the server has not noticed yet that its connection is cut.
   */
  async #wasCommitted(mark: string, deadline: number): Promise<boolean> {
    const lastMark = sql<{ value: string }>`select value from meta where key = ${sql.raw(this.#lastCommit)} for update`;
    for (let pauseMs = RETRY_PAUSE_MS; ; pauseMs *= 2) {
      const found = await lastMark.execute(this.#kysely).catch(() => null);
      if (found !== null) return found.rows[0]?.value === mark;
      if (performance.now() + pauseMs > deadline) {
        throw new TroupeError(
          'UNAVAILABLE',
          'The database went away during a commit; whether it was written is not known',
          { cause: 'NO_ANSWER' },
        );
      }
      await pause(pauseMs);
    }
  }

  explain(error: unknown): TroupeError {
    return explainPostgresError(this.#url, error);
  }

  isAway(error: unknown): boolean {
    return isAway(error);
  }

  concernsAll(error: unknown): boolean {
    return isOutage(error) || (error instanceof TroupeError && error.code === 'UNAVAILABLE');
  }

  async close(): Promise<void> {
    try {
      await this.#owner?.release();
      await this.#database.close();
    } finally {
      this.#lock.release();
    }
  }
}

function lastCommitOf({ home }: HeldHome): string {
  return `'commit ${home.replaceAll("'", '')}'`;
}

function markWith(key: string, mark: string): string {
  return `INSERT INTO meta (key, value) VALUES (${key}, '${mark}') ON CONFLICT (key)`;
}

/** Reads that are tried again if their connection broke: after a restart of the server, each of the pool has. */
function triedAgain(reads: JournalReads): JournalReads {
  return new Proxy(reads, {
    get(target, name) {
      const read: unknown = Reflect.get(target, name);
      if (typeof read !== 'function') return read;
      return async (...args: unknown[]) => {
        for (let triesLeft = CONNECTIONS; ; triesLeft -= 1) {
          try {
            return await Reflect.apply(read, target, args);
          } catch (error) {
            if (triesLeft === 0 || !isTransient(error)) throw error;
          }
        }
      };
    },
  });
}

async function insertInParts<Row extends object>(
  kysely: Kysely<Schema>,
  build: InsertRows<Row>,
  rows: readonly Row[],
): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    await kysely.executeQuery(build(kysely, rows.slice(start, start + ROWS_AT_ONCE)).compile());
  }
}

/**
 * Locks the counter's row until the commit, so that events become visible in the order of their numbers: a reader that
 * has seen a number will never see a lower one appear.
 */
async function takeNumbers(kysely: Kysely<Schema>, count: number): Promise<number> {
  const { value } = await kysely
    .updateTable('counters')
    .set((row) => ({ value: row('value', '+', count) }))
    .where('name', '=', 'events')
    .returning('value')
    .executeTakeFirstOrThrow();
  return value - count + 1;
}
