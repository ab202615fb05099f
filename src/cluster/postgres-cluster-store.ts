import { type Kysely, sql, type Transaction } from 'kysely';
import type { Schema } from '../journal/schema.js';
import type {
  Claim,
  ClusterStore,
  NodeDescription,
  NodeStart,
  NodeState,
  NodeStatus,
  Registration,
  Renewal,
} from './cluster-store.js';
import { USAGE_HALF_LIFE_MS } from './fair-share.js';
import type { LeaseTimes } from './lease-times.js';

type Row = { readonly sessionId: string; readonly token: string };

/** One registration at a time: a key of PostgreSQL's advisory locks, released with the transaction. */
const REGISTRATION_LOCK = 0x54525551;
/** Callers that one claim looks for at most without finding a job. */
const MAX_IDLE_CALLERS = 100;

/** The cluster in PostgreSQL, by its clock. Methods reject with PostgreSQL's errors. */
export class PostgresClusterStore implements ClusterStore {
  readonly #kysely: Kysely<Schema>;
  /** The instant before which a node that has not renewed is lost. */
  readonly #limit: ReturnType<typeof sql<Date>>;

  constructor(kysely: Kysely<Schema>, { lostAfterMs }: Pick<LeaseTimes, 'lostAfterMs'>) {
    this.#kysely = kysely;
    this.#limit = sql<Date>`(now() - ${lostAfterMs}::double precision * interval '1 millisecond')`;
  }

  async startOf(id: string): Promise<string | null> {
    const query = this.#kysely.selectFrom('cluster_nodes').select('start_token').where('id', '=', id);
    return (await query.executeTakeFirst())?.start_token ?? null;
  }

  register(node: NodeDescription, former: string | null): Promise<Registration> {
    return this.#transaction(async (transaction): Promise<Registration> => {
      await sql`select pg_advisory_xact_lock(${sql.lit(REGISTRATION_LOCK)})`.execute(transaction);
      const { id, startToken, home, url, version, schema, slots } = node;
      const { rows } = await sql<{ start_token: string; home: string; expired: boolean }>`
        select start_token, home, state = 'lost' or seen < ${this.#limit} as expired
        from cluster_nodes where id = ${id} for update`.execute(transaction);
      const [known] = rows;
      if ((known?.start_token ?? null) !== former) return { kind: 'superseded' };
      if (known !== undefined && known.home !== home && !known.expired) {
        return { kind: 'refused', reason: 'running-elsewhere' };
      }
      if (!(await hasKey(transaction, node.keyFingerprint))) return { kind: 'refused', reason: 'other-key' };
      await sql`
        insert into cluster_nodes (id, start_token, home, url, version, schema, slots, state, seen)
        values (${id}, ${startToken}, ${home}, ${url}, ${version}, ${schema}, ${slots}, 'up', now())
        on conflict (id) do update set start_token = excluded.start_token, home = excluded.home, url = excluded.url,
          version = excluded.version, schema = excluded.schema, slots = excluded.slots, state = 'up', seen = now()
        `.execute(transaction);
      await sql`
        update cluster_claims set token = gen_random_uuid()::text, start_token = ${startToken}, claimed_at = now()
        where node = ${id} and start_token <> ${startToken}`.execute(transaction);
      return { kind: 'joined', inherited: await claimsOf(transaction, node) };
    });
  }

  async renew(start: NodeStart): Promise<Renewal> {
    const { rows } = await sql<{ state: NodeState } & { [Key in keyof Row]: string | null }>`
      with renewed as (
        update cluster_nodes set seen = now()
        where id = ${start.id} and start_token = ${start.startToken} and state <> 'lost' returning id, start_token, state
      )
      select state, session_id as "sessionId", token from renewed
      left join cluster_claims on node = renewed.id and cluster_claims.start_token = renewed.start_token`.execute(
      this.#kysely,
    );
    const [first] = rows;
    if (first === undefined) return { kind: 'lost' };
    const claims = rows.flatMap(({ sessionId, token }) =>
      sessionId === null || token === null ? [] : [{ sessionId, token }],
    );
    return { kind: 'renewed', draining: first.state === 'draining', claims };
  }

  claim(start: NodeStart, count: number): Promise<readonly Claim[]> {
    return this.#transaction(async (transaction) => {
      const claims: Claim[] = [];
      if (!(await this.#isUp(transaction, start))) return claims;
      for (let idle = 0; claims.length < count && idle < MAX_IDLE_CALLERS; ) {
        const caller =
          (await lockFreeCaller(transaction)) ?? (holdsNone(claims, idle) ? await waitForCaller(transaction) : null);
        if (caller === null) break;
        // A statement of its own: it sees all jobs that were queued before the caller was locked.
        const claim = await takeHead(transaction, start, caller);
        if (claim === null) idle += 1;
        else claims.push(claim);
      }
      return claims;
    });
  }

  /** Null if the start is not up. */
  async create(start: NodeStart, sessionId: string, caller: string): Promise<Claim | null> {
    return this.#transaction(async (transaction) => {
      if (!(await this.#isUp(transaction, start))) return null;
      const { rows } = await sql<Row>`
        insert into cluster_claims (session_id, token, node, start_token, caller, claimed_at)
        values (${sessionId}, gen_random_uuid()::text, ${start.id}, ${start.startToken}, ${caller}, now())
        returning session_id as "sessionId", token`.execute(transaction);
      return rows[0] ?? null;
    });
  }

  async expired(): Promise<readonly NodeStart[]> {
    const { rows } = await sql<NodeStart>`
      select id, start_token as "startToken" from cluster_nodes
      where (state <> 'lost' and seen < ${this.#limit})
        or (state = 'lost' and exists (
          select 1 from cluster_claims where node = id and cluster_claims.start_token = cluster_nodes.start_token))
      order by seen`.execute(this.#kysely);
    return rows;
  }

  takeOver(start: NodeStart, victim: NodeStart, limit: number): Promise<readonly Claim[]> {
    return this.#transaction(async (transaction): Promise<readonly Claim[]> => {
      if (!(await this.#isUp(transaction, start))) return [];
      // Evaluated again once the row is locked: a renewal that was faster wins.
      const lost = await sql`
        update cluster_nodes set state = 'lost'
        where id = ${victim.id} and start_token = ${victim.startToken} and (state = 'lost' or seen < ${this.#limit})
        returning id`.execute(transaction);
      if (lost.rows.length === 0) return [];
      const { rows } = await sql<Row>`
        update cluster_claims
        set token = gen_random_uuid()::text, node = ${start.id}, start_token = ${start.startToken}, claimed_at = now()
        where session_id in (
          select session_id from cluster_claims where node = ${victim.id} and start_token = ${victim.startToken}
          order by session_id limit ${limit} for update skip locked)
        returning session_id as "sessionId", token`.execute(transaction);
      return rows;
    });
  }

  async drain(id: string): Promise<boolean> {
    const { rows } = await sql`
      update cluster_nodes set state = 'draining' where id = ${id} and state <> 'lost' returning id`.execute(
      this.#kysely,
    );
    return rows.length > 0;
  }

  remove(id: string): Promise<boolean> {
    return this.#removeIf(sql`id = ${id} and (state = 'lost' or seen < ${this.#limit})`, id);
  }

  leave({ id, startToken }: NodeStart): Promise<boolean> {
    return this.#removeIf(sql`id = ${id} and start_token = ${startToken}`, id);
  }

  async nodes(): Promise<readonly NodeStatus[]> {
    const { rows } = await sql<NodeStatus>`
      select id, url, version, slots,
        case when seen < ${this.#limit} then 'lost' else state end as state,
        (select count(*)::int from cluster_claims where node = id) as running,
        greatest(0, extract(epoch from now() - seen) * 1000)::int as "seenMsAgo"
      from cluster_nodes order by id`.execute(this.#kysely);
    return rows;
  }

  #transaction<T>(work: (transaction: Transaction<Schema>) => Promise<T>): Promise<T> {
    return this.#kysely.transaction().setIsolationLevel('read committed').execute(work);
  }

  /** Locks the member, so that it is not declared lost before the transaction ends. */
  async #isUp(transaction: Kysely<Schema>, { id, startToken }: NodeStart): Promise<boolean> {
    const { rows } = await sql`
      select 1 from cluster_nodes
      where id = ${id} and start_token = ${startToken} and state = 'up' and seen >= ${this.#limit} for share`.execute(
      transaction,
    );
    return rows.length > 0;
  }

  #removeIf(condition: ReturnType<typeof sql>, id: string): Promise<boolean> {
    return this.#transaction(async (transaction) => {
      const found = await sql`select 1 from cluster_nodes where ${condition} for update`.execute(transaction);
      if (found.rows.length === 0) return false;
      const { rows } = await sql`
        delete from cluster_nodes where id = ${id} and not exists (select 1 from cluster_claims where node = ${id})
        returning id`.execute(transaction);
      return rows.length > 0;
    });
  }
}

/** The first fingerprint stays: what was sealed with the key could not be read with another. */
async function hasKey(transaction: Kysely<Schema>, fingerprint: string): Promise<boolean> {
  await sql`
    insert into meta (key, value) values ('clusterKey', ${fingerprint}) on conflict (key) do nothing`.execute(
    transaction,
  );
  const row = await transaction.selectFrom('meta').select('value').where('key', '=', 'clusterKey').executeTakeFirst();
  return row?.value === fingerprint;
}

async function claimsOf(transaction: Kysely<Schema>, { id, startToken }: NodeStart): Promise<readonly Claim[]> {
  return transaction
    .selectFrom('cluster_claims')
    .select(['session_id as sessionId', 'token'])
    .where('node', '=', id)
    .where('start_token', '=', startToken)
    .execute();
}

/** A transaction that holds a caller's lock never waits for another: two that wait for each other would never end. */
function holdsNone(claims: readonly Claim[], idle: number): boolean {
  return claims.length === 0 && idle === 0;
}

/** Locks the waiting caller with the least recent usage, of those that nobody has locked. */
async function lockFreeCaller(transaction: Kysely<Schema>): Promise<string | null> {
  const { rows } = await sql<{ caller: string }>`
    select caller from cluster_callers where waiting order by score limit 1 for update skip locked`.execute(
    transaction,
  );
  return rows[0]?.caller ?? null;
}

/**
 * Waits for the lock of the waiting caller with the least recent usage. By its name: a statement that looks for a row, and
 * finds it changed once it has its lock, would keep that lock and wait for that of another row.
 */
async function waitForCaller(transaction: Kysely<Schema>): Promise<string | null> {
  const waiting = transaction.selectFrom('cluster_callers').select('caller');
  const row = await waiting.where('waiting', '=', true).orderBy('score').limit(1).executeTakeFirst();
  if (row === undefined) return null;
  await waiting.where('caller', '=', row.caller).forUpdate().execute();
  return row.caller;
}

/** Claims the oldest job of a caller that is locked; marks the caller as idle if it has none. */
async function takeHead(
  transaction: Kysely<Schema>,
  { id, startToken }: NodeStart,
  caller: string,
): Promise<Claim | null> {
  // The score's formula is `servedScore` of fair-share.ts.
  const now = sql`(extract(epoch from clock_timestamp()) * 1000 / ${sql.lit(USAGE_HALF_LIFE_MS)})::double precision`;
  const { rows } = await sql<{ sessionId: string | null; token: string | null }>`
    with head as (
      delete from cluster_queue where session_id = (
        select session_id from cluster_queue where caller = ${caller} order by accepted limit 1)
      returning session_id
    ), claimed as (
      insert into cluster_claims (session_id, token, node, start_token, caller, claimed_at)
      select session_id, gen_random_uuid()::text, ${id}, ${startToken}, ${caller}, now() from head
      returning session_id, token
    ), served as (
      update cluster_callers set
        waiting = exists (select 1 from head),
        score = case when exists (select 1 from head)
          then (ln(power(2::double precision, greatest(score - ${now}, -1000)) + 1) / ln(2::double precision)) + ${now}
          else score end
      where caller = ${caller}
    )
    select session_id as "sessionId", token from claimed`.execute(transaction);
  const [row] = rows;
  return row === undefined || row.sessionId === null || row.token === null
    ? null
    : { sessionId: row.sessionId, token: row.token };
}
