import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccessTokens } from '../../auth/access-tokens.js';
import { onAbort, unstretched } from '../../base/deadline.js';
import type { BrowserLease } from '../../containers/driver.js';
import type { Journal, JournalBatch, KeyValue, StoredRequest, WaitingSession } from '../../journal/journal.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import { type EventRow, eventRow } from '../../protocol/event-row.js';
import type { AutoRequest, LiveRequest, SessionId, SessionRecord } from '../../protocol/session.js';
import type { ArtifactKeeper, CarriedFiles } from '../artifacts/index.js';
import { WarmPool } from '../browsers/index.js';
import type { OwnHealth, Submitter } from '../ports/sessions.js';
import {
  type AcceptedSession,
  acceptedRecord,
  LivingSession,
  newSessionId,
  type OpenPhase,
  QueuedJob,
  type SessionDependencies,
  type SessionEnd,
  type SessionTable,
  type TaskProgress,
} from '../sessions/index.js';
import { Admission } from './admission.js';
import { BatchGate } from './batch-gate.js';
import { CallerLimits } from './caller-limits.js';
import { JobAttempts } from './job-attempts.js';
import { JobQueue } from './job-queue.js';
import { assertSupported, checkTask, flowFileCheck } from './request-check.js';
import { type SubmissionKey, Submissions } from './submissions.js';

/** A session that can be resumed after a restart. */
export interface ResumableSession extends AcceptedSession {
  /** The phase of a job's task; null for a live session. */
  readonly phase: OpenPhase | null;
  readonly progress: TaskProgress;
}

/** The shortest time for opening a browser, for a create that was admitted late. */
const MIN_OPEN_MS = 1_000;

/** Jobs of a batch that are prepared in one turn of the event loop. */
const BATCH_STRIDE = 200;

/** The jobs of a new batch, and its row in the journal. */
export interface NewBatch {
  readonly row: KeyValue;
  /** The flows that it brings, for other nodes. */
  readonly flows: readonly KeyValue[];
  readonly jobs: readonly AutoRequest[];
  readonly parallel: number | null;
  readonly submission: SubmissionKey | null;
  /** See `flowFileCheck`. */
  assertFlow(file: string): Promise<void>;
}

/** What the scheduler needs from the supervisor. */
export interface SchedulerParts extends SessionDependencies {
  readonly journal: Journal;
  readonly tokens: AccessTokens;
  readonly artifacts: ArtifactKeeper;
  /** With several nodes: what jobs bring with them. */
  readonly carried?: CarriedFiles | undefined;
  readonly table: SessionTable;
  /** Called once for each session that was started, when its end is on disk. */
  ended(session: LivingSession): void;
  /** Work that a stop must wait for; never rejects. */
  pending(work: Promise<void>): void;
}

/**
 * Accepts sessions and jobs, admits them, and assigns browsers. A client gets its answer after the journal has stored
 * the
 * session.
 *
 *   live  admission -> warm browser or a new one -> on disk -> answer
 *   job   on disk -> answer -> queue -> admission -> read again -> browser -> flows -> model
 *                                ^------------------------ retries -----------------------'
 */
export class JobScheduler {
  readonly #parts: SchedulerParts;
  readonly #admission: Admission;
  readonly #pool: WarmPool;
  readonly #limits: CallerLimits;
  /** Submissions by Idempotency-Key. */
  readonly submissions: Submissions;
  readonly #gate = new BatchGate();
  readonly #attempts: JobAttempts;
  readonly #queue: JobQueue;
  #closed = false;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
    const { maxSessions, maxQueue } = parts.config;
    this.#limits = new CallerLimits(parts);
    this.submissions = new Submissions(parts.journal, parts.vault);
    this.#admission = new Admission({
      maxSessions,
      maxQueue,
      clock: parts.clock,
      limitsOf: (caller) => parts.tokens.limitsOf(caller),
      queuedElsewhere: () => parts.cluster?.queued ?? 0,
      onReleased: () => this.#pool.slotFreed(),
    });
    this.#pool = new WarmPool({
      ...parts,
      freeSlots: () => maxSessions - this.#admission.running,
      availableBytes: () => process.availableMemory(),
    });
    this.#attempts = new JobAttempts({
      ...parts,
      pool: this.#pool,
      assertSupported: (request) => this.#assertSupported(request),
      isClosed: () => this.#closed,
      queue: ({ session, caller, lostStarts }) => {
        // If the job's end was requested meanwhile, the session handles it.
        if (session.ended !== undefined) return;
        this.#queue.requeued(new QueuedJob({ ...session.record, caller }, lostStarts));
      },
    });
    this.#queue = new JobQueue({
      ...parts,
      admission: this.#admission,
      gate: this.#gate,
      isClosed: () => this.#closed,
      begin: ({ lostStarts, ...accepted }, slot) => {
        const { request, caller } = accepted;
        return this.#attempts.begin({ session: this.#register(accepted), request, caller, lostStarts }, slot);
      },
    });
  }

  /** Starts to fill the pool of warm browsers. */
  open(): void {
    this.#pool.start();
  }

  /** Admits no more sessions, and ends the warm browsers. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#admission.close();
    await this.#pool.close();
  }

  capacity(): OwnHealth['capacity'] {
    const { running, queued } = this.#admission;
    const { config, cluster } = this.#parts;
    const demand = cluster?.demand ?? running + queued;
    return { max: config.maxSessions, running, queued, warm: this.#pool.ready, demand };
  }

  /** 1 for the next job, null for one that does not wait. */
  position(id: SessionId): number | null {
    return this.#admission.position(id);
  }

  leaveQueue(id: SessionId): void {
    this.#queue.leave(id);
  }

  /** See {@link JobQueue.end}. */
  endQueued(job: QueuedJob, end: SessionEnd): Promise<void> {
    return this.#queue.end(job, end);
  }

  /** Whether the lease id belongs to a warm browser. */
  holdsWarmLease(id: string): boolean {
    return this.#pool.has(id);
  }

  /** See `Sessions.createLive`. */
  async createLive(request: LiveRequest, submitter: Submitter): Promise<SessionRecord> {
    this.#assertAccepts(request);
    await this.#parts.states.check(submitter.caller)(request.state);
    // With a key, a repeat must find the session, so the first client's disconnect does not end it.
    const { signal } = submitter.idempotencyKey === undefined ? submitter : new AbortController();
    return this.#once(request, submitter, (submission) =>
      this.#createLive(request, { ...submitter, signal }, submission),
    );
  }

  async #createLive(
    request: LiveRequest,
    { caller, signal }: Submitter,
    submission: SubmissionKey | null,
  ): Promise<SessionRecord> {
    const { config, table } = this.#parts;
    await this.#limits.start(caller);
    const deadlineMs = config.createTimeout * 1000;
    const startedAt = performance.now();
    const asked = this.#parts.clock.now();
    await this.#limits.live(caller, { signal, deadlineMs });
    const slot = await this.#admission.waitForSlot(caller, { signal, deadlineMs });
    const { id, open } = this.#pool.prepare(request);
    this.#parts.cluster?.creating(id);
    const session = this.#register({ request, record: this.#accepted(id, request, caller, { now: asked }), caller });
    const removeAbortListener = onAbort(signal, () => session.abandon());
    try {
      const left = Math.max(MIN_OPEN_MS, deadlineMs - unstretched(performance.now() - startedAt));
      await session.begin(slot, open, left, this.#acceptance(session.record, request, caller, submission));
      return session.record;
    } catch (error) {
      table.drop(session.record.id);
      this.#parts.cluster?.notCreated(session.record.id);
      throw error;
    } finally {
      removeAbortListener();
    }
  }

  /** See `Sessions.submit`. */
  async submit(request: AutoRequest, submitter: Submitter): Promise<SessionRecord> {
    this.#assertAccepts(request);
    return this.#once(request, submitter, (submission) => this.#submit(request, submitter.caller, submission));
  }

  /** A request with an Idempotency-Key is accepted once; a repeat returns the same session. */
  #once(
    request: LiveRequest | AutoRequest,
    { idempotencyKey }: Submitter,
    take: (submission: SubmissionKey | null) => Promise<SessionRecord>,
  ): Promise<SessionRecord> {
    if (idempotencyKey === undefined) return take(null);
    return this.submissions.once(idempotencyKey, request, take, (id) => this.#parts.table.get(id));
  }

  async #submit(request: AutoRequest, caller: string, submission: SubmissionKey | null): Promise<SessionRecord> {
    const { hub, table, carried } = this.#parts;
    await checkTask(request, this.#parts, flowFileCheck(this.#parts.config.flowsDir));
    await this.#parts.states.check(caller)(request.state);
    await this.#limits.start(caller);
    await this.#limits.queue(caller);
    this.#admission.assertQueueHasRoom(caller);
    const record = this.#accepted(newSessionId(), request, caller);
    const job = new QueuedJob({ ...record, caller });
    const keyValues = (await carried?.entriesFor(record.id)) ?? [];
    this.#queue.reserve([job]);
    try {
      await hub.write({
        ...this.#acceptance(record, request, caller, submission),
        records: [{ record, lease: null }],
        keyValues,
      });
    } catch (error) {
      carried?.notWritten();
      this.#queue.cancelReservation([job]);
      throw error;
    }
    this.#queue.accepted([job]);
    return table.withQueuePosition(record);
  }

  /**
   * Accepts all jobs of a batch, or none, in one transaction with the batch.
   * @throws as {@link submit}; for a rejected job, with its index in the batch
   */
  async submitBatch(batch: NewBatch, { caller }: Submitter): Promise<readonly SessionId[]> {
    const records: SessionRecord[] = [];
    const requests: StoredRequest[] = [];
    const hasState = this.#parts.states.check(caller);
    for (const [index, request] of batch.jobs.entries()) {
      // There may be thousands of jobs: release the event loop in between.
      if (index % BATCH_STRIDE === BATCH_STRIDE - 1) await nextTurn();
      await withJobIndex(index, async () => {
        this.#assertAccepts(request);
        await checkTask(request, this.#parts, batch.assertFlow);
        await hasState(request.state);
      });
      const record = this.#accepted(newSessionId(), request, caller, { batch: batch.row.id });
      records.push(record);
      requests.push(this.#sealed(record, request, caller));
    }
    await this.#limits.start(caller, records.length);
    await this.#limits.queue(caller, records.length);
    this.#admission.assertQueueHasRoom(caller, records.length);
    const jobs = records.map((record) => new QueuedJob({ ...record, caller }));
    const files = (await this.#parts.carried?.entriesFor(batch.row.id)) ?? [];
    this.#queue.reserve(jobs);
    try {
      await this.#parts.hub.write({
        records: records.map((record) => ({ record, lease: null })),
        requests,
        events: records.map((record) => this.#acceptedEvent(record)),
        keyValues: [batch.row, ...batch.flows, ...files],
        submissions: batch.submission === null ? [] : [{ ...batch.submission, sessionId: batch.row.id }],
      });
    } catch (error) {
      this.#parts.carried?.notWritten();
      this.#queue.cancelReservation(jobs);
      throw error;
    }
    // Of several nodes, the database holds them back: see `claimJobs`.
    const isGated = batch.parallel !== null && this.#parts.cluster === undefined;
    if (isGated) this.#gate.open(batch.row.id, batch.parallel, jobs.length);
    this.#queue.accepted(jobs);
    return jobs.map(({ id }) => id);
  }

  /** See {@link BatchGate.open}. For a batch that an earlier run of the service accepted. */
  openGate(batch: string, parallel: number, jobs: number): void {
    this.#gate.open(batch, parallel, jobs);
  }

  /** Resumes a session of an earlier run of the service. @throws the reason why it cannot be resumed */
  async resume(resumed: ResumableSession, lease: BrowserLease): Promise<void> {
    const { request, record, caller, phase, progress } = resumed;
    this.#assertSupported(request);
    const session = this.#register(resumed);
    session.restore(progress);
    this.#gate.pass(record.batch, record.id, () => undefined);
    try {
      await session.resume(this.#admission.acquire(caller), lease);
    } catch (error) {
      this.#parts.table.drop(record.id);
      throw error;
    }
    if (request.mode !== 'auto' || phase === null) return;
    this.#parts.pending(this.#attempts.resume({ session, request, caller, lostStarts: 0 }, phase, false));
  }

  /** Queues a job that is already on disk; of several nodes, this one has claimed it. */
  requeue(job: WaitingSession): void {
    this.#queue.claimed(job);
  }

  /** A job is queued again on disk, for any node. */
  givenBack(job: WaitingSession): void {
    this.#queue.requeued(new QueuedJob(job));
  }

  /** See {@link JobQueue.forget}. */
  forget(job: QueuedJob): void {
    this.#queue.forget(job);
  }

  #accepted(
    id: SessionId,
    request: LiveRequest | AutoRequest,
    caller: string,
    { batch, now = this.#parts.clock.now() }: { readonly batch?: string | undefined; readonly now?: Date } = {},
  ): SessionRecord {
    const { maxIterations, publicUrl, models, trace } = this.#parts.config;
    const startedBy = this.#parts.tokens.nameOf(caller);
    const defaults = { maxIterations, publicUrl, model: models[0]?.id ?? null, batch, now, trace, startedBy };
    return acceptedRecord(id, request, defaults);
  }

  /** What the journal stores when a session is accepted, beside its record. */
  #acceptance(
    record: SessionRecord,
    request: LiveRequest | AutoRequest,
    caller: string,
    submission: SubmissionKey | null,
  ): JournalBatch {
    return {
      requests: [this.#sealed(record, request, caller)],
      events: [this.#acceptedEvent(record)],
      submissions: submission === null ? [] : [{ ...submission, sessionId: record.id }],
    };
  }

  #sealed({ id }: SessionRecord, request: LiveRequest | AutoRequest, caller: string): StoredRequest {
    return { sessionId: id, caller, request: this.#parts.vault.seal(request, caller) };
  }

  #acceptedEvent({ id, mode, prompt, flowFiles }: SessionRecord): EventRow {
    return eventRow(
      id,
      { type: 'SessionAccepted', data: { mode, prompt, flowFiles } },
      this.#parts.clock.now().toISOString(),
    );
  }

  #register(accepted: AcceptedSession): LivingSession {
    const browsers = { slots: this.#admission, pool: this.#pool };
    const session = new LivingSession({ ...this.#parts, ...browsers }, accepted, () => {
      this.#gate.leave(session.record.id);
      this.#parts.ended(session);
    });
    this.#parts.table.add(session);
    return session;
  }

  #assertAccepts(request: LiveRequest | AutoRequest): void {
    if (this.#closed) throw new TroupeError('UNAVAILABLE', 'The service is stopping');
    if (request.mode !== 'auto') this.#parts.cluster?.assertAccepts();
    this.#assertSupported(request);
  }

  #assertSupported(request: LiveRequest | AutoRequest): void {
    const { config, driver } = this.#parts;
    assertSupported({ egress: config.egress, ...request }, driver.offers);
  }
}

/** @throws the error of `check`, with the job's index before its message and its paths */
async function withJobIndex(index: number, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    const { code, error: sentence, details } = encodeError(error);
    const issues = Array.isArray(details?.issues) ? details.issues : [];
    const placed = issues.map((issue: { readonly path: string }) => ({
      ...issue,
      path: `jobs.${index}.${issue.path}`,
    }));
    const more = placed.length === 0 ? {} : { issues: placed };
    throw new TroupeError(code, `jobs.${index}: ${sentence}`, { ...details, ...more }, { cause: error });
  }
}
