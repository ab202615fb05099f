import type { Readable } from 'node:stream';
import type {
  AcceptedBatch,
  BatchJUnitQuery,
  BatchList,
  BatchListQuery,
  BatchRecord,
  BatchRequest,
  RerunRequest,
} from '../../protocol/batches/batch.js';
import type { EventPage } from '../../protocol/event-row.js';
import type { Joined } from './joined.js';
import type { Submitter } from './submitter.js';
import type { Suites } from './suites.js';

/**
 * The gateway's interface to batches. Calls reject with a TroupeError whose code is in the error table; an unknown id
 * is
 * NOT_FOUND.
 */
export interface Batches {
  /** Batches whose jobs machines claim. */
  readonly joined: Joined;
  /** Runs of Playwright suites. */
  readonly suites: Suites;
  /** Resolves when all of it is on disk. If a job is rejected, nothing is stored, and the error contains its index. */
  create(request: BatchRequest, submitter: Submitter): Promise<AcceptedBatch>;
  get(id: string): Promise<BatchRecord>;
  /** A page of batches, newest first. */
  list(query: BatchListQuery): Promise<BatchList>;
  /**
   * Runs jobs of a batch again, as a new batch with the same name, labels, and flows. INVALID_REQUEST if no job is left to
   * run, or if one had secrets: the service does not keep those of ended jobs.
   */
  rerun(id: string, request: RerunRequest, submitter: Submitter): Promise<AcceptedBatch>;
  /** The text of a flow or task file that the batch's jobs used, by its path. */
  flowSource(id: string, path: string): Promise<string>;
  /**
   * Cancels a running batch. Removes an ended one, with its jobs and their artifacts, unless a call within the last
   * minute
   * cancelled it. With `purge` it does both at once.
   */
  remove(id: string, purge: boolean): Promise<BatchRecord>;
  /** Streams one zip of all jobs' artifacts, with a folder for each. Destroying the stream cancels the work. */
  archive(id: string): Promise<Readable>;
  /** One JUnit file of all jobs. @param base the service's address as its client sees it */
  junit(id: string, query: BatchJUnitQuery, base: string): Promise<string>;
  /** The starts and ends of its jobs after a sequence number. Ends when all have ended, or `signal` is aborted. */
  eventPages(selection: {
    readonly id: string;
    readonly after: number;
    readonly signal: AbortSignal;
  }): AsyncIterable<EventPage>;
}
