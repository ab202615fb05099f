import { type Kysely, sql } from 'kysely';
import type { Schema } from '../journal/schema.js';

/** What callers use of their limits, over all nodes. Methods reject with PostgreSQL's errors. */
export class CallerUsage {
  readonly #kysely: Kysely<Schema>;

  constructor(kysely: Kysely<Schema>) {
    this.#kysely = kysely;
  }

  /** Sessions that some node has claimed. */
  async running(caller: string): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from cluster_claims where caller = ${caller}`.execute(this.#kysely);
    return rows[0]?.count ?? 0;
  }

  /** Jobs that wait for any node. */
  async queued(caller: string): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from cluster_queue where caller = ${caller}`.execute(this.#kysely);
    return rows[0]?.count ?? 0;
  }

  /**
   * Takes starts from the caller's bucket, which holds one minute's worth and fills evenly, by the database's clock.
   * @returns null if they were taken, else the seconds until one can be
   */
  async takeStarts(caller: string, perMinute: number, count: number): Promise<number | null> {
    const filled = sql`least(${perMinute}::double precision,
      rate.starts_left + extract(epoch from now() - rate.at)::double precision * ${perMinute}::double precision / 60)`;
    const taken = await sql`
      insert into cluster_rates as rate (caller, starts_left, at)
      values (${caller}, ${perMinute}::double precision - ${count}::double precision, now())
      on conflict (caller) do update set starts_left = ${filled} - ${count}::double precision, at = now()
      where ${filled} >= 1
      returning caller`.execute(this.#kysely);
    if (taken.rows.length > 0) return null;
    const { rows } = await sql<{ left: number }>`
      select ${filled} as left from cluster_rates as rate where caller = ${caller}`.execute(this.#kysely);
    return Math.max(1, Math.ceil(((1 - (rows[0]?.left ?? 0)) * 60) / perMinute));
  }
}
