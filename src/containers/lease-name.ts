import { TroupeError } from '../protocol/errors.js';

/** A folder of ours: short, because the browser's socket in it must have a short path. */
const LEASE_FOLDER = /^b-([a-z0-9][a-z0-9-]{0,13})$/;

/** The lease whose folder has this name, or null. */
export function leaseOfFolder(name: string): string | null {
  return LEASE_FOLDER.exec(name)?.[1] ?? null;
}

/** The path of a lease's folder. @throws INTERNAL for what cannot be a lease's id */
export function leaseFolderPath(root: string, leaseId: string): string {
  const name = `b-${leaseId}`;
  if (!LEASE_FOLDER.test(name)) throw new TroupeError('INTERNAL', `Not a lease id: ${leaseId}`);
  return `${root}/${name}`;
}
