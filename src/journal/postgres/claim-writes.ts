import { type Kysely, sql } from 'kysely';
import type { Schema } from '../schema.js';

/** The right to write about a session; see `src/cluster/cluster-store.ts`. */
export interface HeldClaim {
  readonly sessionId: string;
  readonly token: string;
}

/**
 * Locks the claims until the transaction ends, so that nobody takes a session over between this check and the commit.
 * Call it first in the transaction.
 * @returns sessions whose token is no longer their claim's; if there are any, nothing of the transaction may be committed
 */
export async function lockClaims(
  transaction: Kysely<Schema>,
  claims: readonly HeldClaim[],
): Promise<readonly string[]> {
  if (claims.length === 0) return [];
  const tokens = new Map(claims.map(({ sessionId, token }) => [sessionId, token]));
  const { rows } = await sql<{ session_id: string; token: string }>`
    select session_id, token from cluster_claims
    where session_id in (${sql.join([...tokens.keys()].map((id) => sql`${id}`))})
    order by session_id for share`.execute(transaction);
  const held = new Map(rows.map(({ session_id, token }) => [session_id, token]));
  return claims.filter(({ sessionId, token }) => held.get(sessionId) !== token).map(({ sessionId }) => sessionId);
}

/** Queues jobs that were accepted. Their callers' rows are locked first, and in one order. */
export async function queueJobs(
  transaction: Kysely<Schema>,
  jobs: readonly { readonly sessionId: string; readonly caller: string }[],
): Promise<void> {
  if (jobs.length === 0) return;
  const callers = [...new Set(jobs.map(({ caller }) => caller))].sort();
  await sql`
    insert into cluster_callers (caller, waiting, score)
    select caller, true, '-infinity' from unnest(${callers}::text[]) as one (caller) order by caller
    on conflict (caller) do update set waiting = true`.execute(transaction);
  await transaction
    .insertInto('cluster_queue')
    .values(jobs.map(({ sessionId, caller }) => ({ session_id: sessionId, caller })))
    .execute();
}

/** Gives up claims that {@link lockClaims} has locked, and queues their jobs again. */
export async function queueAgain(transaction: Kysely<Schema>, sessionIds: readonly string[]): Promise<void> {
  if (sessionIds.length === 0) return;
  const claims = await transaction
    .deleteFrom('cluster_claims')
    .where('session_id', 'in', sessionIds)
    .returning(['session_id', 'caller'])
    .execute();
  await queueJobs(
    transaction,
    claims.map(({ session_id, caller }) => ({ sessionId: session_id, caller })),
  );
}

/** Removes what ended from the queue and the claims. */
export async function dropClaims(transaction: Kysely<Schema>, sessionIds: readonly string[]): Promise<void> {
  if (sessionIds.length === 0) return;
  await transaction.deleteFrom('cluster_claims').where('session_id', 'in', sessionIds).execute();
  const queued = transaction.selectFrom('cluster_queue').where('session_id', 'in', sessionIds);
  // Whoever changes a caller's line holds the caller's lock.
  await transaction
    .selectFrom('cluster_callers')
    .select('caller')
    .where('caller', 'in', queued.select('caller'))
    .orderBy('caller')
    .forUpdate()
    .execute();
  await transaction.deleteFrom('cluster_queue').where('session_id', 'in', sessionIds).execute();
}
