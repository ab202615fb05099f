import { TroupeError } from '../protocol/errors.js';
import type { RefusalReason } from './cluster-store.js';

/** Why the others do not take a node in, for its operator. */
export function nodeRefusal(reason: RefusalReason, id: string): TroupeError {
  const why: { readonly [reason in RefusalReason]: string } = {
    'other-key':
      'The cluster key of this node is not that of the other nodes: all need the same value in the variable that "clusterKey" names',
    'running-elsewhere': `A node with the id ${id} is running on another home or machine; give this one another "node.id"`,
    'not-shared':
      'A service without "node" in its troupe.json has taken the database for itself: stop that service first',
  };
  return new TroupeError('UNAVAILABLE', why[reason]);
}
