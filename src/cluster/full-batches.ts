import { type RawBuilder, sql } from 'kysely';

/**
 * The condition of a job in `cluster_queue` that its batch does not hold back: fewer jobs of the batch run, on all nodes,
 * than its `parallel` says. It holds for the whole transaction only while the caller is locked: a batch is of one caller.
 */
export function inNoFullBatch(caller: string): RawBuilder<boolean> {
  // Scalar on purpose: with `limit 1`, only the first jobs in the line are looked at, whatever the planner believes.
  return sql<boolean>`coalesce((select queued.batch from sessions queued where queued.id = cluster_queue.session_id), '')
    not in (
      select batches.id from cluster_claims claims
      join sessions running on running.id = claims.session_id
      join kept batches on batches.kind = 'batch' and batches.id = running.batch
      where claims.caller = ${caller}
      group by batches.id, batches.data
      having count(*) >= (batches.data::json->>'parallel')::int)`;
}
