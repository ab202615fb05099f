import type { Readable } from 'node:stream';
import type { AcceptedBatch, BatchJUnitQuery, BatchRecord, BatchRequest } from '../../protocol/batch.js';
import type { EventPage } from '../../protocol/event-row.js';
import type { Submitter } from './submitter.js';

/**
 * What the gateway may ask about batches. Every call rejects with a TroupeError whose code is in the table; an unknown
 * id is NOT_FOUND.
 */
export interface Batches {
  /** Settles when all of it is on disk; none of it is where a job is refused, and the error names its place. */
  create(request: BatchRequest, submitter: Submitter): Promise<AcceptedBatch>;
  get(id: string): Promise<BatchRecord>;
  /**
   * Cancels a batch that has not ended; removes one that has, with its jobs and their artifacts, unless a call within the
   * last minute cancelled it. With `purge` it does both, at any time.
   */
  remove(id: string, purge: boolean): Promise<BatchRecord>;
  /** One zip of all jobs' artifacts, a folder for each, as it is made. Destroying the stream ends the work. */
  archive(id: string): Promise<Readable>;
  /** One JUnit file of all jobs. @param base the service's address as its client calls it */
  junit(id: string, query: BatchJUnitQuery, base: string): Promise<string>;
  /** The starts and ends of its jobs after a sequence number; ends when all have ended, or `signal` is aborted. */
  eventPages(selection: {
    readonly id: string;
    readonly after: number;
    readonly signal: AbortSignal;
  }): AsyncIterable<EventPage>;
}
