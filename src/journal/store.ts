import type { TroupeError } from '../protocol/errors.js';
import type { JournalReads, WriteRequest } from './messages.js';

/** A database with the journal's tables. Runs on the journal's thread. */
export interface Store {
  /** The read operations that the owner can call. */
  readonly reads: JournalReads;
  /** Whether a read may run beside others and beside later writes. */
  readonly readsInParallel: boolean;
  /** The id that was created with the database, and the newest event's number (0 if there was never one). */
  identity(): Promise<{ readonly instance: string; readonly lastSeq: number }>;
  /**
   * Runs all requests, in order, in one transaction, which is on disk when this resolves. Returns the number of each
   * request's first event (0 if it has none), or the error of one that was not written since its rights do not hold. If it
   * rejects, nothing was written, or nobody knows yet: a later call with some of the same requests, and no others, finds it
   * out, and writes them only if they were not.
   */
  commit(requests: readonly WriteRequest[]): Promise<readonly (number | TroupeError)[]>;
  /** Converts an error of the database to an UNAVAILABLE with the remedy. Returns a TroupeError unchanged. */
  explain(error: unknown): TroupeError;
  /** Whether the other requests of a transaction would fail with the same error, each after a wait of its own. */
  concernsAll(error: unknown): boolean;
  /** Whether the database server cannot be reached, or does not serve for a moment. */
  isAway(error: unknown): boolean;
  /** Resolves if another service has the database now: this one must stop. Null if the store cannot be taken away. */
  readonly lost: Promise<TroupeError> | null;
  close(): Promise<void>;
}
