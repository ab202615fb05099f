import { TroupeError } from '../protocol/errors.js';

/** Why the others do not take a node in, for its operator. */
export function nodeRefusal(reason: 'running-elsewhere' | 'other-key', id: string): TroupeError {
  return new TroupeError(
    'UNAVAILABLE',
    reason === 'other-key'
      ? 'The cluster key of this node is not that of the other nodes: all need the same value in the variable that "clusterKey" names'
      : `A node with the id ${id} is running on another home or machine; give this one another "node.id"`,
  );
}
