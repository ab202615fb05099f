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
 * @returns those whose token is no longer their claim's: nothing about their sessions may be written with it
 */
export async function lockClaims(
  transaction: Kysely<Schema>,
  claims: readonly HeldClaim[],
): Promise<readonly HeldClaim[]> {
  if (claims.length === 0) return [];
  const ids = [...new Set(claims.map(({ sessionId }) => sessionId))];
  const { rows } = await sql<{ session_id: string; token: string }>`
    select session_id, token from cluster_claims
    where session_id in (${sql.join(ids)})
    order by session_id for share`.execute(transaction);
  const held = new Map(rows.map(({ session_id, token }) => [session_id, token]));
  return claims.filter(({ sessionId, token }) => held.get(sessionId) !== token);
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

/** Gives up claims that {@link lockClaims} has locked, and queues their jobs again, with others that were accepted. */
export async function queueAfter(
  transaction: Kysely<Schema>,
  {
    again,
    accepted,
  }: {
    readonly again: readonly string[];
    readonly accepted: readonly { readonly sessionId: string; readonly caller: string }[];
  },
): Promise<void> {
  const claims =
    again.length === 0
      ? []
      : await transaction
          .deleteFrom('cluster_claims')
          .where('session_id', 'in', again)
          .returning(['session_id as sessionId', 'caller'])
          .execute();
  // At once: whoever locks several callers' rows does so in one order.
  await queueJobs(transaction, [...claims, ...accepted]);
}

/** Removes the claims of sessions that end, and what names the files that they brought. */
export async function endClaims(transaction: Kysely<Schema>, sessionIds: readonly string[]): Promise<void> {
  if (sessionIds.length === 0) return;
  await transaction.deleteFrom('cluster_claims').where('session_id', 'in', sessionIds).execute();
  await transaction.deleteFrom('kept').where('kind', '=', 'job-files').where('id', 'in', sessionIds).execute();
}

/**
 * Takes in what a service left that had the database for itself: queues its waiting jobs, and gives the claims of its
 * running sessions to this start, which recovers them.
 */
export async function adoptSessions(
  transaction: Kysely<Schema>,
  { node, startToken }: { readonly node: string; readonly startToken: string },
): Promise<void> {
  const { rows } = await sql<{ sessionId: string; caller: string; status: string }>`
    select sessions.id as "sessionId", coalesce(requests.caller, '') as caller, status
    from sessions left join requests on requests.session_id = sessions.id
    where status in ('queued', 'running')
      and not exists (select 1 from cluster_claims where cluster_claims.session_id = sessions.id)
      and not exists (select 1 from cluster_queue where cluster_queue.session_id = sessions.id)
    order by created_at, sessions.id`.execute(transaction);
  await queueJobs(
    transaction,
    rows.filter(({ status }) => status === 'queued'),
  );
  for (const { sessionId, caller } of rows.filter(({ status }) => status === 'running')) {
    await sql`
      insert into cluster_claims (session_id, token, node, start_token, caller, claimed_at)
      values (${sessionId}, gen_random_uuid()::text, ${node}, ${startToken}, ${caller}, now())`.execute(transaction);
  }
}
