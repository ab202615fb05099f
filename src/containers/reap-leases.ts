import { sentenceOf } from '../base/system-fault.js';

/** What a sweep goes by. */
export interface LeaseReaping {
  /** Leases of which something was found. */
  readonly found: Iterable<string>;
  /** Asked at the moment of each removal: leases come and go meanwhile. */
  isKept(leaseId: string): boolean;
  /** Removes all that is there of a lease. Rejects when something is left. */
  remove(leaseId: string): Promise<void>;
  readonly log: (message: string) => void;
}

/** Removes the leases that nobody keeps and returns them; logs what cannot be removed. Never rejects. */
export async function reapLeases({ found, isKept, remove, log }: LeaseReaping): Promise<readonly string[]> {
  const removed: string[] = [];
  await Promise.all(
    [...new Set(found)].map(async (leaseId) => {
      if (isKept(leaseId)) return;
      try {
        await remove(leaseId);
        removed.push(leaseId);
      } catch (cause) {
        log(`The browser of ${leaseId} could not be removed: ${sentenceOf(cause)}`);
      }
    }),
  );
  return removed;
}
