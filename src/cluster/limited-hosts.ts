import { type Kysely, sql } from 'kysely';
import type { Schema } from '../journal/schema.js';
import { inNoFullBatch } from './full-batches.js';
import { type HostLimits, HostPlaces, type HostRound } from './host-limits.js';

/** Who claims limited jobs: a key of PostgreSQL's advisory locks, released with the transaction. */
const HOSTS_LOCK = 0x54525548;

/** The job of a caller that is next: `sessionId`, or the oldest one. */
export interface Head {
  readonly sessionId: string | null;
}

/** The oldest job. */
export const FIRST: Head = { sessionId: null };

/** The hosts that have as many jobs as they may, while one transaction claims. */
export class LimitedHosts {
  readonly #transaction: Kysely<Schema>;
  readonly #limits: HostLimits;
  readonly #places: HostPlaces;
  readonly #round: HostRound;
  /** Of jobs that must wait, as they are stored. */
  readonly #waiting = new Set<string>();

  private constructor(transaction: Kysely<Schema>, limits: HostLimits) {
    this.#transaction = transaction;
    this.#limits = limits;
    this.#places = new HostPlaces(limits);
    this.#round = this.#places.round();
  }

  /** Counts the jobs that run; nobody else claims limited ones until the transaction ends. Call it before callers are locked. */
  static async lock(transaction: Kysely<Schema>, limits: HostLimits): Promise<LimitedHosts> {
    await sql`select pg_advisory_xact_lock(${sql.lit(HOSTS_LOCK)})`.execute(transaction);
    const hosts = new LimitedHosts(transaction, limits);
    const { rows } = await sql<{ hosts: string; jobs: number }>`
      select hosts, count(*)::int as jobs from cluster_claims join requests using (session_id)
      where hosts <> '' group by hosts`.execute(transaction);
    for (const { hosts: some, jobs } of rows) hosts.#places.take(limits.limitsOf(some), jobs);
    return hosts;
  }

  /** The oldest job of a caller that may run, which then has its places; null if all that it has must wait. */
  async headOf(caller: string): Promise<Head | null> {
    for (;;) {
      const others =
        this.#waiting.size === 0 ? sql`` : sql`and coalesce(hosts, '') not in (${sql.join([...this.#waiting])})`;
      const { rows } = await sql<{ sessionId: string; hosts: string }>`
        select session_id as "sessionId", coalesce(hosts, '') as hosts
        from cluster_queue left join requests using (session_id)
        where cluster_queue.caller = ${caller} and ${inNoFullBatch(caller)} ${others} order by accepted limit 1`.execute(
        this.#transaction,
      );
      const [head] = rows;
      if (head === undefined) return this.#unlessIdle(caller);
      const limits = this.#limits.limitsOf(head.hosts);
      if (this.#round.mayTake(limits)) {
        this.#places.take(limits);
        return head;
      }
      this.#waiting.add(head.hosts);
    }
  }

  /** All that the caller has must wait; without any job, {@link FIRST} finds none, and the caller is marked as idle. */
  async #unlessIdle(caller: string): Promise<Head | null> {
    const { rows } = await sql`select 1 from cluster_queue where caller = ${caller} limit 1`.execute(this.#transaction);
    return rows.length === 0 ? FIRST : null;
  }
}
