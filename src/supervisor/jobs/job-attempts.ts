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
import { beginsAgain, retriesLeft } from './retry.js';

/** A job whose start loses its thread so often is what kills it. */
const MAX_LOST_STARTS = 5;
const UNTOUCHED: OpenPhase = { kind: 'flows' };

/** A job that lives. */
export interface LivingJob {
  readonly session: LivingSession;
  readonly request: AutoRequest;
  readonly caller: string;
  /** Starts of it whose thread was lost meanwhile. */
  readonly lostStarts: number;
}

/** What attempts need of the scheduler. */
interface JobParts extends Pick<SessionDependencies, 'config' | 'log'> {
  readonly journal: Journal;
  readonly pool: WarmPool;
  /** Nothing begins any more. */
  isClosed(): boolean;
  /** Lets a job wait for a place again, without its session. */
  queue(job: LivingJob): void;
}

/**
 * Jobs from their place to the end of an attempt: with which browser, from where in their task, and what becomes of them
 * then.
 *
 *   place -> browser -> flows -> model -> end
 *     ^                  |
 *     `-- requeue -------'   retries; the service stops; the thread was lost before anything had begun
 */
export class JobAttempts {
  readonly #parts: JobParts;

  constructor(parts: JobParts) {
    this.#parts = parts;
  }

  /** An attempt, from its place to its end. Never rejects. */
  async begin(job: LivingJob, slot: Slot): Promise<void> {
    const { session, request } = job;
    const { config, pool } = this.#parts;
    try {
      const phase = session.record.startedAt === null ? UNTOUCHED : await this.#phaseOf(job);
      const open = pool.prepareJob(session.record.id, request);
      await session.begin(slot, open, config.createTimeout * 1000);
      await this.resume(job, phase, true);
    } catch (error) {
      if (this.#parts.isClosed() && session.record.status === 'queued') return;
      await this.#over(job, lostEnd(error));
    }
  }

  /** The rest of an attempt whose session runs. */
  async resume(job: LivingJob, phase: OpenPhase, freshBrowser: boolean): Promise<void> {
    const { session, request } = job;
    const journaled = () => journaledEvents(this.#parts.journal, session.record.id);
    await this.#over(job, await session.work(request, phase, { journaled, freshBrowser }));
  }

  /** Where a job goes on that waited for the second time. */
  async #phaseOf(job: LivingJob): Promise<OpenPhase> {
    const progress = await this.#progressOf(job);
    job.session.recall(progress);
    const phase = progress.phase(job.session.record.maxIterations ?? 0);
    return phase.kind === 'model' ? phase : UNTOUCHED;
  }

  #progressOf({ session, request }: LivingJob): Promise<TaskProgress> {
    return readProgress(request, journaledEvents(this.#parts.journal, session.record.id));
  }

  /** What becomes of a job whose attempt is over: it waits for another, or for the next service, or has ended. */
  async #over(job: LivingJob, end: SessionEnd): Promise<void> {
    const { session } = job;
    try {
      const again = await this.#laidBy(job, end);
      if (again !== null) this.#parts.queue(again);
      else await session.end(end, 'graceful');
    } catch (error) {
      this.#parts.log(`cannot wait again: ${sentenceOf(error)}`, { session: session.record.id });
      await session.end(end, 'graceful');
    }
  }

  /** The job as it waits again; null where it does not. */
  async #laidBy(job: LivingJob, end: SessionEnd): Promise<LivingJob | null> {
    const { session, request, lostStarts } = job;
    const { error } = end;
    // Its thread was lost before anything of it had begun: that is no end of a job.
    if (error?.code === 'SESSION_RESTARTED' && session.record.status === 'queued' && lostStarts < MAX_LOST_STARTS) {
      return (await session.requeue(null)) ? { ...job, lostStarts: lostStarts + 1 } : null;
    }
    if (this.#parts.isClosed() && error?.code === 'INTERRUPTED') {
      await session.rest();
      const { kind } = (await this.#progressOf(job)).phase(session.record.maxIterations ?? 0);
      if (kind === 'model') return (await session.requeue(null)) ? job : null;
    }
    if (error === null || !beginsAgain(request, session.record, end)) return null;
    const failed = { error, retriesLeft: retriesLeft(request, session.record) - 1 };
    return (await session.requeue(failed)) ? job : null;
  }
}
