import { TroupeError } from '../../protocol/errors.js';

/**
 * Whether a service may use a database, so that nodes of two neighbouring versions can run together. A schema's generation
 * counts releases whose migrations are not empty. A migration only adds; what it replaces is removed by the next generation.
 *
 * @param own the generation that this service writes
 * @param database the generation of the database; 0 if it is empty
 * @param members the generations of the nodes that are up
 * @returns whether to migrate the database to `own` first
 * @throws UNAVAILABLE if the service is too old or too new, with what to do
 */
export function schemaVerdict(own: number, database: number, members: readonly number[]): 'use' | 'migrate' {
  if (database > own + 1) {
    throw new TroupeError(
      'UNAVAILABLE',
      `The database has schema ${database}, and this Troupe knows ${own}; update this node`,
    );
  }
  const oldest = Math.min(own, ...members);
  if (own > oldest + 1) {
    throw new TroupeError(
      'UNAVAILABLE',
      `A node with schema ${oldest} is running, and this Troupe has ${own}; update all nodes to schema ${oldest + 1} first`,
    );
  }
  return database < own ? 'migrate' : 'use';
}
