import { sentenceOf } from '../../base/system-fault.js';
import type { Journal, WaitingSession } from '../../journal/journal.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import { AutoRequest, isEnded, type SessionId } from '../../protocol/session.js';
import type { CarriedFiles } from '../artifacts/index.js';
import {
  type AcceptedSession,
  type EndParts,
  endStored,
  interruptedEnd,
  QueuedJob,
  type SessionDependencies,
  type SessionEnd,
  type SessionTable,
  type Slot,
} from '../sessions/index.js';
import type { Admission } from './admission.js';
import type { BatchGate } from './batch-gate.js';

/** The delay before a failed disk access is repeated. */
const RETRY_MS = 1_000;

/** A job that has a slot, as read from the disk. */
export interface AdmittedJob extends AcceptedSession {
  readonly request: AutoRequest;
  /** See `QueuedJob`. */
  readonly lostStarts: number;
}

/** What the queue needs from the scheduler. */
export interface JobQueueParts extends EndParts, Pick<SessionDependencies, 'vault' | 'cluster' | 'config'> {
  readonly journal: Journal;
  readonly table: SessionTable;
  readonly admission: Admission;
  readonly gate: BatchGate;
  /** With several nodes: what jobs bring with them. */
  readonly carried?: CarriedFiles | undefined;
  /** The service is stopping: no job is started. */
  isClosed(): boolean;
  /** Runs a job that has a slot, and is responsible for it from now on. Never rejects. */
  begin(job: AdmittedJob, slot: Slot): Promise<void>;
  /** Work that a stop must wait for; never rejects. */
  pending(work: Promise<void>): void;
}

/**
 * The queue of jobs. Only ids and their order are in memory; records and requests are on disk, and are read when a job
 * gets a slot or ends.
 *
 *   expect -> add -> batch's gate -> queue of the admission -> slot -> read from disk -> begin
 *                       `------------------ end ------------------------'
 */
export class JobQueue {
  readonly #parts: JobQueueParts;
  readonly #retrying = new Set<QueuedJob>();
  /** Jobs that this node has claimed again before it had released their browsers. */
  readonly #claimedEarly = new Map<SessionId, QueuedJob>();
  /** Of jobs that were given back to the queue of all nodes. */
  readonly #lostStarts = new Map<SessionId, number>();

  constructor(parts: JobQueueParts) {
    this.#parts = parts;
  }

  /** Reserves room for jobs that are about to be accepted, so that concurrent submissions do not overfill the queue. */
  reserve(jobs: readonly QueuedJob[]): void {
    if (this.#parts.cluster !== undefined) return;
    for (const job of jobs) {
      this.#parts.table.addQueued(job);
      this.#parts.admission.reserve(job.caller, job.id);
    }
  }

  /** Releases the reservation of jobs that were not accepted. */
  cancelReservation(jobs: readonly QueuedJob[]): void {
    if (this.#parts.cluster !== undefined) return;
    for (const { id } of jobs) {
      this.#parts.table.drop(id);
      this.#parts.admission.leaveQueue(id);
    }
  }

  /** Jobs are on disk that were reserved: they are queued here, or any node takes them. */
  accepted(jobs: readonly QueuedJob[]): void {
    if (this.#parts.cluster !== undefined) this.#parts.cluster.hint();
    else for (const job of jobs) this.add(job);
  }

  /** A job has given up its slot, to begin again or to continue later. */
  requeued(job: QueuedJob): void {
    const { table, hub, cluster } = this.#parts;
    if (cluster === undefined) {
      this.add(job);
      return;
    }
    const { id, lostStarts } = job;
    if (lostStarts > 0) this.#lostStarts.set(id, lostStarts);
    table.drop(id);
    cluster.release(id);
    hub.sessionGone(id);
    cluster.hint();
    const again = this.#claimedEarly.get(id);
    this.#claimedEarly.delete(id);
    if (again !== undefined) this.claimed(again);
  }

  /** This node has claimed the job. */
  claimed(waiting: WaitingSession): void {
    const { id } = waiting;
    const job = new QueuedJob(waiting, this.#lostStarts.get(id) ?? 0);
    if (this.#parts.cluster !== undefined && this.#parts.table.has(id)) {
      this.#claimedEarly.set(id, job);
      return;
    }
    this.#lostStarts.delete(id);
    this.add(job);
  }

  /** Another node has the job: it is forgotten here, and nothing is written about it. */
  forget({ id }: QueuedJob): void {
    this.leave(id);
    this.#parts.table.drop(id);
    this.#parts.cluster?.release(id);
  }

  /** Queues a job that is on disk and is not queued. */
  add(job: QueuedJob): void {
    const { table, admission, gate } = this.#parts;
    if (job.ending !== null) return;
    const { id, batch, caller } = job;
    table.addQueued(job);
    admission.reserve(caller, id);
    gate.pass(batch, id, () => admission.queue(caller, id, (slot) => this.#parts.pending(this.#admitted(job, slot))));
  }

  /** Permanently removes a job from the queue; it must be ended next. */
  leave(id: SessionId): void {
    this.#parts.gate.refuse(id);
    this.#parts.admission.leaveQueue(id);
  }

  /**
   * Ends a queued job, once: later calls return the same promise. Resolves when the end is on disk.
   * @throws the journal's error; the job is then queued again
   */
  end(job: QueuedJob, end: SessionEnd): Promise<void> {
    job.ending ??= this.#end(job, end);
    return job.ending;
  }

  async #end(job: QueuedJob, end: SessionEnd): Promise<void> {
    const { journal, table, gate, hub, cluster } = this.#parts;
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
    cluster?.release(id);
    hub.sessionGone(id);
  }

  /** Never rejects. */
  async #admitted(job: QueuedJob, slot: Slot): Promise<void> {
    const { journal, log, isClosed } = this.#parts;
    const lost = (error: unknown) =>
      log(`still waiting because of a disk error: ${sentenceOf(error)}`, { session: job.id });
    const files = this.#parts.carried?.fetch(job);
    const read = await Promise.all([journal.get(job.id), this.#requestOf(job.id), files]).catch((error) => {
      lost(error);
      this.#addLater(job);
      return null;
    });
    // The job has been ended meanwhile, or the service is stopping and the job stays on disk.
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

  /** Delayed, so that a failing disk is not accessed in a loop. */
  #addLater(job: QueuedJob): void {
    if (this.#retrying.has(job)) return;
    this.#retrying.add(job);
    this.#parts.clock.after(RETRY_MS, () => {
      this.#retrying.delete(job);
      this.add(job);
    });
  }

  /** Undefined if there is none, or it cannot be read. */
  async #requestOf(id: SessionId): Promise<unknown> {
    const stored = await this.#parts.journal.request(id);
    return this.#parts.vault.unseal(stored?.request)?.request;
  }
}

function unreadableEnd(): SessionEnd {
  const error = new TroupeError(
    'INTERNAL',
    'The request was accepted by another version of the service or with another key, and cannot be read; submit it again',
  );
  return { ...interruptedEnd('auto'), error: encodeError(error) };
}
