import type { Kysely } from 'kysely';
import { batchesOf } from '../joined-changes.js';
import type { WriteRequest } from '../messages.js';
import { lockBatches } from '../queries/batch-store.js';
import type { Schema } from '../schema.js';

/**
 * Locks the joined batches and runs of suites that requests change, until the commit: several nodes change them, and a change first reads what
 * there is. Call it before anything is written, so that a node which waits here holds nothing that others wait for.
 */
export async function lockJoined(transaction: Kysely<Schema>, requests: readonly WriteRequest[]): Promise<void> {
  const changed = requests.flatMap((request) => {
    if (request.op === 'joined' || request.op === 'suite') return batchesOf(request.change);
    return request.op === 'removeBatch' ? [request.batchId] : [];
  });
  if (changed.length > 0) await lockBatches(transaction, [...new Set(changed)]);
}
