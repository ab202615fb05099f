import { type Kysely, sql, type Transaction } from 'kysely';
import { adoptSessions, queueAfter } from '../journal/postgres/claim-writes.js';
import { lockMembership, ownerHost } from '../journal/postgres/database-owner.js';
import type { Schema } from '../journal/schema.js';
import { type ClaimRules, claimJobs } from './claim-jobs.js';
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
import type { LeaseTimes } from './lease-times.js';

/** Where a node is. */
export interface NodeAddress extends NodeStart {
  readonly url: string;
  readonly isLost: boolean;
}

type Row = { readonly sessionId: string; readonly token: string };

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
      await lockMembership(transaction);
      if ((await ownerHost(transaction)) !== null) return { kind: 'refused', reason: 'not-shared' };
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
      await adoptSessions(transaction, { node: id, startToken });
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

  /** @param rules by default there are no limits */
  claim(start: NodeStart, count: number, rules: Partial<ClaimRules> = {}): Promise<readonly Claim[]> {
    const { maxRunning = () => undefined } = rules;
    return this.#transaction(async (transaction) =>
      (await this.#isUp(transaction, start)) ? claimJobs(transaction, start, { count, maxRunning }) : [],
    );
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

  /** Claims a job that no node has; null if it is not queued, or the start is not up. */
  take(start: NodeStart, sessionId: string): Promise<Claim | null> {
    return this.#transaction(async (transaction) => {
      if (!(await this.#isUp(transaction, start))) return null;
      const queued = () =>
        transaction.selectFrom('cluster_queue').select('caller').where('session_id', '=', sessionId).executeTakeFirst();
      const found = await queued();
      if (found === undefined) return null;
      const { caller } = found;
      await sql`select 1 from cluster_callers where caller = ${caller} for update`.execute(transaction);
      const { rows } = await sql<Row>`
        with taken as (delete from cluster_queue where session_id = ${sessionId} returning session_id)
        insert into cluster_claims (session_id, token, node, start_token, caller, claimed_at)
        select session_id, gen_random_uuid()::text, ${start.id}, ${start.startToken}, ${caller}, now() from taken
        returning session_id as "sessionId", token`.execute(transaction);
      return rows[0] ?? null;
    });
  }

  /** Queues the claimed jobs of a start again that have not begun, or wait to continue. */
  giveBack({ id, startToken }: NodeStart): Promise<void> {
    return this.#transaction(async (transaction) => {
      const { rows } = await sql<{ sessionId: string }>`
        select session_id as "sessionId" from cluster_claims
        where node = ${id} and start_token = ${startToken}
          and exists (select 1 from sessions where sessions.id = session_id and status = 'queued')
        order by session_id for update`.execute(transaction);
      await queueAfter(transaction, { again: rows.map(({ sessionId }) => sessionId), accepted: [] });
    });
  }

  /** Removes a claim whose session needs none. */
  async drop({ sessionId, token }: Claim): Promise<void> {
    await sql`delete from cluster_claims where session_id = ${sessionId} and token = ${token}`.execute(this.#kysely);
  }

  /** The node that has claimed a session; null if none has. */
  holder(sessionId: string): Promise<NodeAddress | null> {
    return this.#address(sql`
      from cluster_claims join cluster_nodes on id = node and cluster_nodes.start_token = cluster_claims.start_token
      where session_id = ${sessionId}`);
  }

  /** Null if there is no such node. */
  address(id: string): Promise<NodeAddress | null> {
    return this.#address(sql`from cluster_nodes where id = ${id}`);
  }

  async #address(from: ReturnType<typeof sql>): Promise<NodeAddress | null> {
    const { rows } = await sql<NodeAddress>`
      select id, cluster_nodes.start_token as "startToken", url, state = 'lost' or seen < ${this.#limit} as "isLost"
      ${from}`.execute(this.#kysely);
    return rows[0] ?? null;
  }

  /** The newest event's number, of all nodes. */
  async lastSeq(): Promise<number> {
    const { rows } = await sql<{ value: number }>`select value from counters where name = 'events'`.execute(
      this.#kysely,
    );
    return rows[0]?.value ?? 0;
  }

  /** The open handoffs of all nodes, by session. */
  async openHandoffs(): Promise<ReadonlyMap<string, string>> {
    const { rows } = await sql<{ id: string; handoff: string }>`
      select id, record::json->'handoff'->>'id' as handoff from sessions
      where status = 'running' and record like '%"handoff":{%' and record::json->'handoff'->>'id' is not null`.execute(
      this.#kysely,
    );
    return new Map(rows.map(({ id, handoff }) => [id, handoff]));
  }

  /** How many jobs are queued, and how many sessions nodes have. */
  async load(): Promise<{ readonly queued: number; readonly claimed: number }> {
    const { rows } = await sql<{ queued: number; claimed: number }>`
      select (select count(*)::int from cluster_queue) as queued,
        (select count(*)::int from cluster_claims) as claimed`.execute(this.#kysely);
    return rows[0] ?? { queued: 0, claimed: 0 };
  }

  /**
   * Makes this start the one that does the chores of all nodes, such as sending webhooks, unless a node that is up does
   * them. True if it does them.
   */
  async holdChores({ startToken }: NodeStart): Promise<boolean> {
    const { rows } = await sql<{ value: string }>`
      insert into meta (key, value) values ('chores', ${startToken})
      on conflict (key) do update set value = excluded.value
      where meta.value = excluded.value or not exists (
        select 1 from cluster_nodes where start_token = meta.value and state <> 'lost' and seen >= ${this.#limit})
      returning value`.execute(this.#kysely);
    return rows.length > 0;
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
