import type { WaitingSession } from '../../journal/journal.js';
import type { SessionId } from '../../protocol/session.js';

/**
 * A job that waits for its slot. Everything else about it is on disk, so the memory that a queue needs depends on the
 * number of jobs and not on their size.
 */
export class QueuedJob implements WaitingSession {
  readonly id: SessionId;
  readonly batch: string | null;
  readonly caller: string;
  readonly hosts: string;
  /** Starts during which the thread was lost. */
  readonly lostStarts: number;
  /** Set once the job's end was requested: it is then never started. */
  ending: Promise<void> | null = null;

  constructor({ id, batch, caller, hosts }: WaitingSession, lostStarts = 0) {
    this.id = id;
    this.batch = batch;
    this.caller = caller;
    this.hosts = hosts;
    this.lostStarts = lostStarts;
  }
}
