import { sentenceOf } from '../../base/system-fault.js';
import type { Journal } from '../../journal/journal.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import { AutoRequest, isEnded, type SessionId } from '../../protocol/session.js';
import {
  type AcceptedSession,
  type EndParts,
  endStored,
  interruptedEnd,
  type QueuedJob,
  type SessionDependencies,
  type SessionEnd,
  type SessionTable,
  type Slot,
} from '../sessions/index.js';
import type { Admission } from './admission.js';
import type { BatchGate } from './batch-gate.js';

/** What the disk did not give, or take, is tried again so much later. */
const AGAIN_MS = 1_000;

/** A job that has its place, read from the disk. */
export interface AdmittedJob extends AcceptedSession {
  readonly request: AutoRequest;
  /** See `QueuedJob`. */
  readonly lostStarts: number;
}

/** What the queue needs of the scheduler. */
export interface JobQueueParts extends EndParts, Pick<SessionDependencies, 'vault'> {
  readonly journal: Journal;
  readonly table: SessionTable;
  readonly admission: Admission;
  readonly gate: BatchGate;
  /** Nothing begins any more. */
  isClosed(): boolean;
  /** Goes on with a job that has its place, of which it takes care from now on. Never rejects. */
  begin(job: AdmittedJob, slot: Slot): Promise<void>;
  /** Work that a stop must wait for; never rejects. */
  pending(work: Promise<void>): void;
}

/**
 * The jobs that wait. In memory is who they are and in which order they come; records and requests stay on disk, and are
 * read when a job has its place, or ends before.
 *
 *   expect -> add -> batch's gate -> queue of the admission -> place -> read from disk -> begin
 *                       `------------------ end ------------------------'
 */
export class JobQueue {
  readonly #parts: JobQueueParts;
  readonly #later = new Set<QueuedJob>();

  constructor(parts: JobQueueParts) {
    this.#parts = parts;
  }

  /** Counts jobs that are about to be accepted, so that those who come together do not overfill the queue. */
  expect(jobs: readonly QueuedJob[]): void {
    for (const job of jobs) {
      this.#parts.table.addQueued(job);
      this.#parts.admission.expect(job.caller, job.id);
    }
  }

  /** They were not accepted. */
  forget(jobs: readonly QueuedJob[]): void {
    for (const { id } of jobs) {
      this.#parts.table.drop(id);
      this.#parts.admission.leaveQueue(id);
    }
  }

  /** Lets a job wait that is on disk. Not while it waits already. */
  add(job: QueuedJob): void {
    const { table, admission, gate } = this.#parts;
    if (job.ending !== null) return;
    const { id, batch, caller } = job;
    table.addQueued(job);
    admission.expect(caller, id);
    gate.pass(batch, id, () => admission.queue(caller, id, (slot) => this.#parts.pending(this.#admitted(job, slot))));
  }

  /** Takes a job out of the order, for good: it is to be ended next. */
  leave(id: SessionId): void {
    this.#parts.gate.refuse(id);
    this.#parts.admission.leaveQueue(id);
  }

  /**
   * Ends a job that waits, once: later calls wait for the first. Settles when its end is on disk.
   * @throws what the disk said; the job waits again then
   */
  end(job: QueuedJob, end: SessionEnd): Promise<void> {
    job.ending ??= this.#end(job, end);
    return job.ending;
  }

  async #end(job: QueuedJob, end: SessionEnd): Promise<void> {
    const { journal, table, gate, hub } = this.#parts;
    const { id } = job;
    this.leave(id);
    try {
      const record = (await journal.get(id))?.record;
      if (record !== undefined && !isEnded(record.status)) {
        await endStored(this.#parts, { record, request: await this.#requestOf(id) }, end);
      }
    } catch (error) {
      job.ending = null;
      this.#addLater(job);
      throw error;
    }
    gate.leave(id);
    table.drop(id);
    hub.sessionGone(id);
  }

  /** Never rejects. */
  async #admitted(job: QueuedJob, slot: Slot): Promise<void> {
    const { journal, log, isClosed } = this.#parts;
    const lost = (error: unknown) => log(`the disk keeps it waiting: ${sentenceOf(error)}`, { session: job.id });
    const read = await Promise.all([journal.get(job.id), this.#requestOf(job.id)]).catch((error) => {
      lost(error);
      this.#addLater(job);
      return null;
    });
    // Somebody has ended it meanwhile, or the service stops: it stays on disk then.
    const stored = read === null || job.ending !== null || isClosed() ? null : read[0];
    if (stored === null) return slot.release();
    const request = AutoRequest.safeParse(read?.[1]);
    if (request.success) {
      const { caller, lostStarts } = job;
      return this.#parts.begin({ record: stored.record, request: request.data, caller, lostStarts }, slot);
    }
    await this.end(job, unreadableEnd()).catch(lost);
    slot.release();
  }

  /** Not at once: the disk would be asked without end. */
  #addLater(job: QueuedJob): void {
    if (this.#later.has(job)) return;
    this.#later.add(job);
    this.#parts.clock.after(AGAIN_MS, () => {
      this.#later.delete(job);
      this.add(job);
    });
  }

  /** Undefined where there is none, or it cannot be read. */
  async #requestOf(id: SessionId): Promise<unknown> {
    const stored = await this.#parts.journal.request(id);
    return this.#parts.vault.unseal(stored?.request)?.request;
  }
}

function unreadableEnd(): SessionEnd {
  const error = new TroupeError(
    'INTERNAL',
    'The request was accepted by another version, or under another key, and cannot be read',
  );
  return { ...interruptedEnd('auto'), error: encodeError(error) };
}
