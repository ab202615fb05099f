import type { GiveUpSignal } from '../actors/actor.js';
import type { FrameOrder, ScreenFrame } from '../actors/session/screen.js';
import type { AccessTokens } from '../auth/access-tokens.js';
import { ShareLinks } from '../auth/share-links.js';
import { sentenceOf } from '../base/system-fault.js';
import { isCallable } from '../config/models.js';
import type { Journal } from '../journal/journal.js';
import { encodeError, TroupeError } from '../protocol/errors.js';
import type { EventType } from '../protocol/events.js';
import {
  type AutoRequest,
  isEnded,
  type ListQuery,
  type LiveRequest,
  type SessionId,
  type SessionRecord,
} from '../protocol/session.js';
import type { ReportPool } from '../report/report-pool.js';
import type { Outbox } from '../webhooks/outbox.js';
import { type ArtifactKeeper, BatchArtifacts, SessionArtifacts, type SessionNow } from './artifacts/index.js';
import { BatchService, isRepeatedStop, openGates } from './batches/index.js';
import { SessionStreams } from './events/index.js';
import { FlowLibrary, JobScheduler } from './jobs/index.js';
import type { Batches } from './ports/batches.js';
import type { ModelInfo, OwnHealth, RunOptions, SessionCounts, Sessions, Submitter } from './ports/sessions.js';
import {
  type LivingSession,
  parseId,
  SessionConnections,
  type SessionDependencies,
  SessionTable,
  SessionWaiters,
  stoppedEnd,
  type WaitBounds,
} from './sessions/index.js';
import { endAll, Reaper, Retention, recoverSessions } from './upkeep/index.js';

/** How much later than its own bound the answer of an actor may come. */
const FRAME_GRACE_MS = 2_000;

/** What the supervisor is built from. */
export interface SupervisorParts extends SessionDependencies {
  readonly journal: Journal;
  readonly tokens: AccessTokens;
  readonly artifacts: ArtifactKeeper;
  readonly reports: ReportPool;
  readonly version: string;
}

/**
 * Who lives and who may enter. It owns the living sessions, admits new ones, ends them, and answers for those that have
 * ended from the journal.
 */
export class Supervisor implements Sessions {
  readonly batches: Batches;
  readonly connections: SessionConnections;
  readonly links: ShareLinks;
  readonly artifacts: SessionArtifacts;
  readonly flows: FlowLibrary;
  readonly streams: SessionStreams;
  readonly #parts: SupervisorParts;
  readonly #scheduler: JobScheduler;
  readonly #table: SessionTable;
  readonly #reaper: Reaper;
  readonly #retention: Retention;
  /** Clean-up after ends, so that a stop can wait for it. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #startedAt: number;
  readonly #drainOver = new AbortController();
  readonly #waiters: SessionWaiters;
  #stopping = false;

  private constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#table = new SessionTable(parts.journal, (id) => this.#scheduler.position(id));
    this.#waiters = new SessionWaiters(parts, (id) => this.#table.has(id));
    this.connections = new SessionConnections(this.#table);
    this.links = new ShareLinks(parts);
    this.flows = new FlowLibrary(parts.config.flowsDir, parts.journal, parts.clock);
    this.streams = new SessionStreams(parts.hub, {
      idOf: async (id) => (await this.get(id)).id,
      isLiving: (id) => this.#table.has(id),
    });
    this.artifacts = new SessionArtifacts(parts.artifacts, parts.config.sessionsDir, {
      get: (id) => this.get(id),
      now: (id) => this.#now(id),
      browserFiles: (id) => this.#table.living(id)?.endpoint ?? null,
    });
    this.#scheduler = new JobScheduler({
      ...parts,
      table: this.#table,
      ended: (session) => this.#sessionEnded(session),
      pending: (work) => this.#awaitAtStop(work),
    });
    this.batches = new BatchService({
      ...parts,
      scheduler: this.#scheduler,
      artifacts: new BatchArtifacts({ keeper: parts.artifacts, pool: parts.reports, now: (id) => this.#now(id) }),
      stop: (sessions) => this.#stopAll(sessions),
      forget: (session) => this.#forget(session),
    });
    const isKept = (id: string) => this.#table.holdsLease(id) || this.#scheduler.keepsWarm(id);
    this.#retention = new Retention({ ...parts, isLiving: (id) => this.#table.living(id) !== undefined });
    this.#reaper = new Reaper({ ...parts, isKept });
    this.#startedAt = parts.clock.now().getTime();
  }

  /** Takes up what an earlier service left, and is then open for new sessions. */
  static async start(parts: SupervisorParts): Promise<Supervisor> {
    const supervisor = new Supervisor(parts);
    const scheduler = supervisor.#scheduler;
    await openGates(parts.journal, scheduler, parts.log);
    await recoverSessions(parts, {
      resume: (resumed, lease) => scheduler.resume(resumed, lease),
      queue: (session) => scheduler.requeue(session),
    });
    scheduler.open();
    supervisor.#reaper.start();
    supervisor.#retention.start();
    return supervisor;
  }

  get webhooks(): Outbox {
    return this.#parts.webhooks;
  }

  get tokens(): AccessTokens {
    return this.#parts.tokens;
  }

  createLive(request: LiveRequest, submitter: Submitter): Promise<SessionRecord> {
    return this.#scheduler.createLive(request, submitter);
  }

  submit(request: AutoRequest, submitter: Submitter): Promise<SessionRecord> {
    return this.#scheduler.submit(request, submitter);
  }

  waitForEnd(id: string, bounds: WaitBounds): Promise<SessionRecord> {
    return this.#waitFor(id, ['SessionEnded'], bounds);
  }

  async #waitFor(id: string, types: readonly EventType[], bounds: WaitBounds): Promise<SessionRecord> {
    const sessionId = parseId(id);
    await this.#waiters.next(sessionId, types, bounds, async () => isEnded((await this.get(sessionId)).status));
    return this.get(sessionId);
  }

  list(query: ListQuery): Promise<readonly SessionRecord[]> {
    return this.#table.list(query);
  }

  get(id: string): Promise<SessionRecord> {
    return this.#table.get(id);
  }

  doing(id: SessionId): string | null {
    return this.#table.doing(id);
  }

  counts(failedSince: string): Promise<SessionCounts> {
    return this.#table.counts(failedSince);
  }

  async remove(id: string, purge: boolean): Promise<void> {
    const record = await this.get(id);
    const queued = this.#table.queued(record.id);
    if (queued !== undefined) return this.#scheduler.endQueued(queued, stoppedEnd('deleted'));
    const living = this.#table.living(record.id);
    if (living !== undefined && !isEnded(record.status)) {
      this.#scheduler.leaveQueue(record.id);
      await living.end(stoppedEnd('deleted'), 'immediate');
      if (!purge) return;
    }
    if (!purge && record.endReason === 'deleted' && isRepeatedStop(record.endedAt, this.#parts.clock.now())) return;
    await this.#forget(record.id);
    await this.#parts.journal.remove(record.id);
  }

  timeLeft(id: string): { readonly hardMs: number; readonly idleMs: number } | null {
    const living = this.#table.living(parseId(id));
    return living === undefined || isEnded(living.record.status) ? null : living.clocks.left;
  }

  async runScript(
    id: string,
    source: string,
    signal: GiveUpSignal,
    options: RunOptions = { onDisconnect: 'continue' },
  ): Promise<string> {
    try {
      const living = this.#table.living(parseId(id)) ?? (await this.connections.session(id));
      return await living.runScript(source, signal, options);
    } catch (error) {
      throw (encodeError(error).code === 'SESSION_ENDED' ? await this.#lostWorker(id) : null) ?? error;
    }
  }

  /** Why a live session has ended, where that is its browser's loss: who calls it then is told so, however late. */
  async #lostWorker(id: string): Promise<TroupeError | null> {
    // Its end may be on its way to the disk.
    await this.#table.living(parseId(id))?.ended;
    const { mode, error, endedAt, endReason, status } = await this.get(id);
    if (mode !== 'live' || error?.code !== 'WORKER_LOST') return null;
    return new TroupeError('WORKER_LOST', error.error, { status, endReason, endedAt });
  }

  async nextFrame(id: string, order: FrameOrder, signal: AbortSignal): Promise<ScreenFrame | null> {
    const { id: sessionId, status } = await this.get(id);
    const living = this.#table.living(sessionId);
    if (living === undefined) throw new TroupeError('SESSION_ENDED', `The session has no screen: it is ${status}`);
    return living.actor().ask('NextFrame', order, { deadlineMs: order.timeoutMs + FRAME_GRACE_MS, signal });
  }

  models(): readonly ModelInfo[] {
    return this.#parts.config.models.map((model, index) => ({
      id: model.id,
      default: index === 0,
      ready: isCallable(model),
      apiKeyEnv: model.apiKeyEnv,
    }));
  }

  health(): OwnHealth {
    const { driver, version, clock, journal } = this.#parts;
    const fault = this.#stopping ? null : journal.writeFault();
    return {
      status: this.#stopping ? 'stopping' : fault === null ? 'ok' : 'failing',
      ...(fault === null ? {} : { reason: fault.message }),
      version,
      driver: driver.name,
      uptimeSeconds: Math.round((clock.now().getTime() - this.#startedAt) / 1000),
      capacity: this.#scheduler.capacity(),
    };
  }

  /**
   * Ends the running sessions and gives everything back. Jobs have `drainMs` to end by themselves; those that wait, are
   * with their model, or may begin again, stay on disk for the next start. Idempotent.
   */
  async stop(drainMs: number): Promise<void> {
    this.#stopping = true;
    const closed = this.#scheduler.close();
    await Promise.allSettled([
      closed,
      this.#reaper.stop(),
      this.#retention.stop(),
      ...this.#table.allLiving().map((session) => this.#drain(session, drainMs)),
    ]);
    // Whoever waits for a job that stays queued waits in vain.
    this.#waiters.close();
    // An end that is written adds what is left to be done after it.
    while (this.#leaving.size > 0) await Promise.all(this.#leaving);
  }

  /** Ends a drain that is under way: jobs that still run are cut. */
  hurry(): void {
    this.#drainOver.abort();
  }

  /** A session as it is now. What one that just ended still has is in its folder then. */
  async #now(id: string): Promise<SessionNow> {
    const record = await this.get(id);
    if (isEnded(record.status)) await this.#table.living(record.id)?.gone();
    return { record, files: this.#table.living(record.id)?.endpoint ?? null };
  }

  /** Removes what a session left, once nothing of it is under way any more. */
  async #forget(id: SessionId): Promise<void> {
    await this.#table.living(id)?.gone();
    await this.#parts.artifacts.remove(id);
  }

  async #stopAll(records: readonly SessionRecord[]): Promise<void> {
    const living = records.flatMap(({ id }) => this.#table.living(id) ?? []);
    const open = living.filter(({ record }) => !isEnded(record.status));
    const queued = records.flatMap(({ id }) => this.#table.queued(id) ?? []);
    // None of them may take the place of one that ends.
    for (const { id } of queued) this.#scheduler.leaveQueue(id);
    for (const { record } of open) this.#scheduler.leaveQueue(record.id);
    await Promise.all([
      ...open.map((session) => session.end(stoppedEnd('deleted'), 'immediate')),
      endAll(queued, (job) => this.#scheduler.endQueued(job, stoppedEnd('deleted'))),
    ]);
  }

  async #drain(session: LivingSession, drainMs: number): Promise<void> {
    if (session.record.mode === 'live') {
      await session.end(stoppedEnd('shutdown'), 'immediate');
      return;
    }
    // One that has not begun stays on disk as it is.
    if (session.record.status === 'queued') return session.abandon();
    const bounds = { timeoutMs: drainMs, signal: this.#drainOver.signal };
    // One that begins again waits for the next service.
    const record = await this.#waitFor(session.record.id, ['SessionEnded', 'AttemptFailed'], bounds);
    if (record.status === 'running') session.interrupt();
  }

  /** The end is on disk; what is left is to give back what was held and to write what people will read. */
  #sessionEnded(session: LivingSession): void {
    const { id } = session.record;
    const left = this.#leave(session).finally(() => {
      this.#table.drop(id);
      this.#parts.hub.sessionGone(id);
    });
    this.#awaitAtStop(left);
  }

  #awaitAtStop(work: Promise<void>): void {
    const waited = work.finally(() => this.#leaving.delete(waited));
    this.#leaving.add(waited);
  }

  async #leave(session: LivingSession): Promise<void> {
    try {
      await session.gone();
      // Of one that never began there is nothing to read; it is made when somebody asks for it.
      if (session.record.startedAt !== null) await this.#parts.artifacts.write(session.record);
    } catch (error) {
      this.#parts.log(`clean-up failed: ${sentenceOf(error)}`, { session: session.record.id });
    }
  }
}
