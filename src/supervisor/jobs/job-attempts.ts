import { sentenceOf } from '../../base/system-fault.js';
import type { Journal } from '../../journal/journal.js';
import type { AutoRequest } from '../../protocol/session.js';
import type { WarmPool } from '../browsers/index.js';
import { journaledEvents } from '../events/index.js';
import {
  type LivingSession,
  lostEnd,
  type OpenPhase,
  readProgress,
  type SessionDependencies,
  type SessionEnd,
  type Slot,
  type TaskProgress,
} from '../sessions/index.js';
import { isRetried, retriesLeft } from './retry.js';

/** A job that lost its thread in this many starts is assumed to cause it. */
const MAX_LOST_STARTS = 5;
const NOT_BEGUN: OpenPhase = { kind: 'flows' };

/** A job with its session. */
export interface JobWithSession {
  readonly session: LivingSession;
  readonly request: AutoRequest;
  readonly caller: string;
  /** Starts during which the thread was lost. */
  readonly lostStarts: number;
}

/** What attempts need from the scheduler. */
interface JobParts extends Pick<SessionDependencies, 'config' | 'log'> {
  readonly journal: Journal;
  readonly pool: WarmPool;
  /** It may have been accepted by another node, or with other settings. @throws INVALID_REQUEST naming the field */
  assertSupported(request: AutoRequest): void;
  /** The service is stopping: no job is started. */
  isClosed(): boolean;
  /** Queues a job again, without its session. */
  queue(job: JobWithSession): void;
}

/**
 * Runs attempts at jobs, from their slot to their end: chooses the browser and the phase to start from, and afterwards
 * requeues or ends the job.
 *
 *   slot -> browser -> flows -> model -> end
 *     ^                  |
 *     `-- requeue -------'   retries; the service stops; the thread was lost before anything had begun
 */
export class JobAttempts {
  readonly #parts: JobParts;

  constructor(parts: JobParts) {
    this.#parts = parts;
  }

  /** Runs an attempt from its slot to its end. Never rejects. */
  async begin(job: JobWithSession, slot: Slot): Promise<void> {
    const { session, request } = job;
    const { config, pool } = this.#parts;
    try {
      this.#parts.assertSupported(request);
      const phase = session.record.startedAt === null ? NOT_BEGUN : await this.#phaseOf(job);
      const open = pool.prepareJob(session.record.id, request);
      await session.begin(slot, open, config.createTimeout * 1000);
      await this.resume(job, phase, true);
    } catch (error) {
      if (this.#parts.isClosed() && session.record.status === 'queued') return;
      await this.#finish(job, lostEnd(error));
    }
  }

  /** Runs the rest of an attempt whose session is running. */
  async resume(job: JobWithSession, phase: OpenPhase, freshBrowser: boolean): Promise<void> {
    const { session, request } = job;
    const journaled = () => journaledEvents(this.#parts.journal, session.record.id);
    await this.#finish(job, await session.work(request, phase, { journaled, freshBrowser }));
  }

  /** The phase from which a requeued job continues. */
  async #phaseOf(job: JobWithSession): Promise<OpenPhase> {
    const progress = await this.#progressOf(job);
    job.session.restore(progress);
    const phase = progress.phase(job.session.record.maxIterations ?? 0);
    return phase.kind === 'model' ? phase : NOT_BEGUN;
  }

  #progressOf({ session, request }: JobWithSession): Promise<TaskProgress> {
    return readProgress(request, journaledEvents(this.#parts.journal, session.record.id));
  }

  /** Requeues the job for another attempt or for the next start of the service, or ends it. */
  async #finish(job: JobWithSession, end: SessionEnd): Promise<void> {
    const { session } = job;
    try {
      const again = await this.#requeued(job, end);
      if (again !== null) this.#parts.queue(again);
      else await session.end(end, 'graceful');
    } catch (error) {
      this.#parts.log(`could not be requeued: ${sentenceOf(error)}`, { session: session.record.id });
      await session.end(end, 'graceful');
    }
  }

  /** Requeues the job and returns it; null if it is not requeued. */
  async #requeued(job: JobWithSession, end: SessionEnd): Promise<JobWithSession | null> {
    const { session, request, lostStarts } = job;
    const { error } = end;
    // The thread was lost before anything had begun, so this does not count as the job's end.
    if (error?.code === 'SESSION_RESTARTED' && session.record.status === 'queued' && lostStarts < MAX_LOST_STARTS) {
      return (await session.requeue(null)) ? { ...job, lostStarts: lostStarts + 1 } : null;
    }
    if (this.#parts.isClosed() && error?.code === 'INTERRUPTED') {
      await session.settle();
      const { kind } = (await this.#progressOf(job)).phase(session.record.maxIterations ?? 0);
      if (kind === 'model') return (await session.requeue(null)) ? job : null;
    }
    if (error === null || !isRetried(request, session.record, end)) return null;
    const failed = { error, retriesLeft: retriesLeft(request, session.record) - 1 };
    return (await session.requeue(failed)) ? job : null;
  }
}
