import { type Kysely, sql } from 'kysely';
import { TroupeError } from '../../protocol/errors.js';
import type { WriteRequest, WriteRights } from '../messages.js';
import type { Schema } from '../schema.js';
import { endClaims, lockClaims, queueAfter } from './claim-writes.js';

/**
 * Checks the rights of all requests, and changes claims and queue as they say. Call it first in the transaction.
 * @returns why requests must not be written, by their index
 */
export async function applyRights(
  transaction: Kysely<Schema>,
  requests: readonly WriteRequest[],
): Promise<ReadonlyMap<number, TroupeError>> {
  const refused = new Map<number, TroupeError>();
  const all = requests.flatMap((request, index) =>
    request.op === 'write' && request.rights !== undefined ? [{ index, rights: request.rights }] : [],
  );
  if (all.length === 0) return refused;
  // First: later requests of the same transaction may be about these sessions.
  for (const { index, rights } of all) {
    if (rights.created.length > 0 && !(await create(transaction, rights))) {
      refused.set(index, lost(rights.created.map(({ sessionId }) => sessionId)));
    }
  }
  const held = all.flatMap(({ rights }) => rights.held);
  const gone = new Set((await lockClaims(transaction, held)).map(({ sessionId, token }) => `${sessionId} ${token}`));
  for (const { index, rights } of all) {
    const stale = rights.held.filter(({ sessionId, token }) => gone.has(`${sessionId} ${token}`));
    if (stale.length > 0) refused.set(index, lost(stale.map(({ sessionId }) => sessionId)));
  }
  const valid = all.filter(({ index }) => !refused.has(index)).map(({ rights }) => rights);
  await queueAfter(transaction, {
    again: valid.flatMap(({ requeued }) => requeued),
    accepted: valid.flatMap(({ queued }) => queued),
  });
  await endClaims(
    transaction,
    valid.flatMap(({ ended }) => ended),
  );
  return refused;
}

/** False if the node's start is not up. Locks the node's row, so that it is not declared lost before the commit. */
async function create(transaction: Kysely<Schema>, { node, startToken, created }: WriteRights): Promise<boolean> {
  const up = await sql`
    select 1 from cluster_nodes where id = ${node} and start_token = ${startToken} and state <> 'lost' for share`.execute(
    transaction,
  );
  if (up.rows.length === 0) return false;
  await transaction
    .insertInto('cluster_claims')
    .values(
      created.map(({ sessionId, token, caller }) => ({
        session_id: sessionId,
        token,
        node,
        start_token: startToken,
        caller,
        claimed_at: sql<Date>`now()`,
      })),
    )
    .execute();
  return true;
}

function lost(sessions: readonly string[]): TroupeError {
  return new TroupeError(
    'NODE_LOST',
    'Another node has taken over the session; this one writes nothing more about it',
    {
      sessions,
    },
  );
}
