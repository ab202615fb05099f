import { type Kysely, sql } from 'kysely';
import type { Schema } from '../journal/schema.js';
import type { Claim, NodeStart } from './cluster-store.js';
import { USAGE_HALF_LIFE_MS } from './fair-share.js';
import { inNoFullBatch } from './full-batches.js';

/** Callers that one claim looks at, at most, without getting a job. */
const MAX_IDLE_CALLERS = 100;

/** What nodes keep to when they claim jobs. */
export interface ClaimRules {
  /** How many sessions a caller may have at once, over all nodes; undefined: any number. */
  readonly maxRunning: (caller: string) => number | undefined;
}

/**
 * Claims queued jobs for a start that is up, in turns of their callers. A caller that has as many sessions as it may have
 * is passed over: its lock is held while they are counted, so that two nodes do not both give it its last one. So are the
 * jobs of a batch of which as many run as its `parallel` says (a batch is of one caller).
 */
export async function claimJobs(
  transaction: Kysely<Schema>,
  start: NodeStart,
  { count, maxRunning }: ClaimRules & { readonly count: number },
): Promise<readonly Claim[]> {
  const claims: Claim[] = [];
  const full: string[] = [];
  for (let idle = 0; claims.length < count && idle < MAX_IDLE_CALLERS; ) {
    const caller =
      (await lockFreeCaller(transaction, full)) ?? (holdsNone(claims, idle) ? await waitForCaller(transaction) : null);
    if (caller === null) break;
    if (await isFull(transaction, caller, maxRunning(caller))) {
      full.push(caller);
      idle += 1;
      continue;
    }
    // A statement of its own: it sees all jobs that were queued before the caller was locked.
    const taken = await takeHead(transaction, start, caller);
    if (taken.claim !== null) claims.push(taken.claim);
    else idle += 1;
    if (taken.isHeldBack) full.push(caller);
  }
  return claims;
}

async function isFull(transaction: Kysely<Schema>, caller: string, most: number | undefined): Promise<boolean> {
  if (most === undefined) return false;
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from cluster_claims where caller = ${caller}`.execute(transaction);
  return (rows[0]?.count ?? 0) >= most;
}

/** A transaction that holds a caller's lock never waits for another: two that wait for each other would never end. */
function holdsNone(claims: readonly Claim[], idle: number): boolean {
  return claims.length === 0 && idle === 0;
}

/** Locks the waiting caller with the least recent usage, of those that nobody has locked and that are not `full`. */
async function lockFreeCaller(transaction: Kysely<Schema>, full: readonly string[]): Promise<string | null> {
  const others = full.length === 0 ? sql`` : sql`and caller not in (${sql.join(full)})`;
  const { rows } = await sql<{ caller: string }>`
    select caller from cluster_callers where waiting ${others} order by score limit 1 for update skip locked`.execute(
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

/**
 * Claims the oldest job of a caller that is locked, of those that their batches do not hold back. Marks the caller as idle
 * if it has none at all.
 */
async function takeHead(
  transaction: Kysely<Schema>,
  { id, startToken }: NodeStart,
  caller: string,
): Promise<{ readonly claim: Claim | null; readonly isHeldBack: boolean }> {
  const next = sql`(select session_id from cluster_queue where caller = ${caller} and ${inNoFullBatch(caller)}
    order by accepted limit 1)`;
  // The score's formula is `servedScore` of fair-share.ts.
  const now = sql`(extract(epoch from clock_timestamp()) * 1000 / ${sql.lit(USAGE_HALF_LIFE_MS)})::double precision`;
  const { rows } = await sql<{ sessionId: string | null; token: string | null; waits: boolean }>`
    with head as (
      delete from cluster_queue where session_id = ${next} returning session_id
    ), claimed as (
      insert into cluster_claims (session_id, token, node, start_token, caller, claimed_at)
      select session_id, gen_random_uuid()::text, ${id}, ${startToken}, ${caller}, now() from head
      returning session_id, token
    ), waiting as (
      select exists (select 1 from cluster_queue where caller = ${caller}) as any
    ), served as (
      update cluster_callers set
        waiting = (select waiting.any from waiting),
        score = case when exists (select 1 from head)
          then (ln(power(2::double precision, greatest(score - ${now}, -1000)) + 1) / ln(2::double precision)) + ${now}
          else score end
      where caller = ${caller}
    )
    select session_id as "sessionId", token, waiting.any as waits from waiting left join claimed on true`.execute(
    transaction,
  );
  const [row] = rows;
  if (row === undefined || row.sessionId === null || row.token === null) {
    return { claim: null, isHeldBack: row?.waits === true };
  }
  return { claim: { sessionId: row.sessionId, token: row.token }, isHeldBack: false };
}
