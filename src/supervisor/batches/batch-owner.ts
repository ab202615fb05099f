import { TroupeError } from '../../protocol/errors.js';

/** The access token of a caller; empty for the configured one, and if none is required. */
export function ownerOf(caller: string): string {
  return caller.startsWith('token:') ? caller : '';
}

/**
 * What one process began, others continue with the same access token.
 * @param batch.what such as `The suite`
 * @throws FORBIDDEN
 */
export function assertOwner(
  { id, owner, what }: { readonly id: string; readonly owner: string; readonly what: string },
  caller: string,
): void {
  if (owner === ownerOf(caller)) return;
  throw new TroupeError(
    'FORBIDDEN',
    `${what} (batch ${id}) was begun with another access token: all machines and processes of a run use the same one`,
  );
}
