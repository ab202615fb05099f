import type { GiveUpSignal } from '../actors/actor.js';
import { storeMissing } from '../artifact-store/open-store.js';
import type { AccessTokens } from '../auth/access-tokens.js';
import type { LoginStates } from '../auth/login-states.js';
import type { SetupValues } from '../auth/setup-values.js';
import { ShareLinks } from '../auth/share-links.js';
import { pause } from '../base/deadline.js';
import { sentenceOf } from '../base/system-fault.js';
import { nodeLost } from '../cluster/claim-book.js';
import { isCallable } from '../config/models.js';
import type { BrowserKind } from '../containers/driver.js';
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
import type { FrameRequest, ScreenFrame } from '../session/screen.js';
import { threadFaults } from '../threads/thread-faults.js';
import type { Outbox } from '../webhooks/outbox.js';
import {
  type ArtifactKeeper,
  BatchArtifacts,
  nodeFiles,
  SessionArtifacts,
  SessionBaselines,
  type SessionNow,
} from './artifacts/index.js';
import { BatchService, isRepeatedStop, openGates } from './batches/index.js';
import { SessionStreams } from './events/index.js';
import { FlowLibrary, JobScheduler } from './jobs/index.js';
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
import {
  ClaimedSessions,
  leftSessions,
  NodeDirectory,
  Reaper,
  type Recovered,
  Retention,
  recoverSessions,
  stopSession,
  stopSessions,
} from './upkeep/index.js';

/** How much later than its own deadline an actor's reply may arrive. */
const FRAME_GRACE_MS = 2_000;
/** The picture of a last step has 3 s. */
const PICTURE_MS = 3_500;
const SETTLE_MS = 4_000;
const IDLE_CHECK_MS = 100;

/** What the supervisor is built from. */
export interface SupervisorParts extends SessionDependencies {
  readonly journal: Journal;
  readonly tokens: AccessTokens;
  readonly artifacts: ArtifactKeeper;
  readonly reports: ReportPool;
  readonly version: string;
  /** See `NodeWork`. */
  renewed?(state: { readonly doesChores: boolean }): void;
}

/**
 * The composition of the wings. It owns the running sessions, admits new ones, ends them, and answers from the journal
 * for those that have ended.
 */
export class Supervisor implements Sessions {
  readonly batches: BatchService;
  readonly connections: SessionConnections;
  readonly links: ShareLinks;
  readonly traceLinks: ShareLinks;
  readonly handoffLinks: ShareLinks;
  readonly artifacts: SessionArtifacts;
  readonly flows: FlowLibrary;
  readonly streams: SessionStreams;
  readonly nodes: NodeDirectory | null;
  readonly #parts: SupervisorParts;
  readonly #scheduler: JobScheduler;
  readonly #table: SessionTable;
  readonly #reaper: Reaper;
  readonly #retention: Retention;
  readonly #shared: ReturnType<typeof nodeFiles>['shared'];
  /** Work after the end of each session, which writes its artifacts. */
  readonly #leaving = new Map<SessionId, Promise<void>>();
  /** Work that a stop waits for. */
  readonly #pendingWork = new Set<Promise<void>>();
  readonly #startedAt: number;
  readonly #drainAborted = new AbortController();
  readonly #waiters: SessionWaiters;
  #stopping = false;

  private constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#table = new SessionTable(parts.journal, (id) => this.#scheduler.position(id));
    const { config } = parts;
    const { carried, shared } = nodeFiles(parts);
    this.#shared = shared;
    this.nodes = NodeDirectory.of({ ...parts, table: this.#table });
    this.#waiters = new SessionWaiters(parts, (id) => parts.cluster !== undefined || this.#table.has(id));
    this.connections = new SessionConnections(this.#table, (id) => parts.cluster?.openHandoff(id) ?? null);
    this.links = new ShareLinks(parts);
    this.traceLinks = new ShareLinks(parts, 'trace');
    this.handoffLinks = new ShareLinks(parts, 'handoff');
    this.flows = new FlowLibrary(config.flowsDir, parts.journal, parts.clock, shared);
    this.streams = new SessionStreams(parts.hub, {
      find: async (name) => {
        const { id, status } = await this.get(name);
        return { id, isElsewhere: parts.cluster !== undefined && !isEnded(status) };
      },
      newestElsewhere: async () => (await parts.cluster?.newestSeq()) ?? null,
      isLiving: (id) => this.#table.has(id),
    });
    const baselines = new SessionBaselines({ ...parts, keeper: parts.artifacts, shared });
    this.artifacts = new SessionArtifacts(parts.artifacts, baselines, {
      get: (id) => this.get(id),
      now: (id) => this.#now(id),
      written: (id) => this.#written(id),
      browserFiles: (id) => this.#table.living(id)?.endpoint ?? null,
    });
    this.#scheduler = new JobScheduler({
      ...parts,
      carried,
      table: this.#table,
      ended: (session) => this.#sessionEnded(session),
      pending: (work) => this.#awaitAtStop(work),
    });
    this.batches = new BatchService({
      ...parts,
      nodes: this.nodes,
      scheduler: this.#scheduler,
      artifacts: new BatchArtifacts({
        keeper: parts.artifacts,
        pool: parts.reports,
        now: (id) => this.#now(id),
        elsewhere: async (id) => (await this.nodes?.artifactsElsewhere(id)) ?? null,
      }),
      stop: (sessions) => stopSessions(sessions, this.#stopParts),
      removeArtifacts: (session) => this.#removeArtifacts(session),
    });
    const isOwned = (id: string) =>
      this.#table.holdsLease(id) || this.#scheduler.holdsWarmLease(id) || parts.videos.holdsLease(id);
    this.#retention = new Retention({
      ...parts,
      carried,
      isLiving: (id) => this.#table.living(id) !== undefined,
      doesChores: () => parts.cluster?.doesChores ?? true,
    });
    this.#reaper = new Reaper({ ...parts, isOwned: isOwned });
    this.#startedAt = parts.clock.now().getTime();
  }

  /** Recovers what an earlier run of the service left, then accepts new sessions. */
  static async start(parts: SupervisorParts): Promise<Supervisor> {
    const supervisor = new Supervisor(parts);
    const scheduler = supervisor.#scheduler;
    const recovered: Recovered = {
      resume: (resumed, lease) => scheduler.resume(resumed, lease),
      queue: (session) => scheduler.requeue(session),
    };
    if (parts.cluster === undefined) {
      await openGates(parts.journal, scheduler, parts.log);
      await recoverSessions(parts, recovered, await leftSessions(parts.journal), { sweeps: true });
    } else {
      await ClaimedSessions.serve({
        ...parts,
        cluster: parts.cluster,
        table: supervisor.#table,
        recovered: { ...recovered, requeued: (job) => scheduler.givenBack(job) },
        forget: (job) => scheduler.forget(job),
        shared: supervisor.#shared,
        batches: supervisor.batches,
      });
    }
    scheduler.open();
    supervisor.batches.start();
    supervisor.#reaper.start();
    supervisor.#retention.start();
    parts.artifacts.start((id) => supervisor.#table.living(id) !== undefined);
    return supervisor;
  }

  get webhooks(): Outbox {
    return this.#parts.webhooks;
  }

  get states(): LoginStates {
    return this.#parts.states;
  }

  get setupValues(): SetupValues {
    return this.#parts.setupValues;
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

  activity(id: SessionId): string | null {
    return this.#table.activity(id);
  }

  counts(failedSince: string): Promise<SessionCounts> {
    return this.#table.counts(failedSince);
  }

  async remove(id: string, purge: boolean | 'never'): Promise<void> {
    const record = await this.get(id);
    if (!isEnded(record.status)) {
      const isQueued = this.#table.living(record.id) === undefined;
      await stopSession(record, this.#stopParts);
      if (purge !== true || isQueued) return;
    }
    if (purge === 'never') return;
    if (!purge && record.endReason === 'deleted' && isRepeatedStop(record.endedAt, this.#parts.clock.now())) return;
    await this.#removeArtifacts(record);
    await this.#parts.journal.remove(record.id);
  }

  get #stopParts() {
    return { ...this.#parts, table: this.#table, scheduler: this.#scheduler, nodes: this.nodes };
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
      const here = this.#table.living(parseId(id));
      const elsewhere = here === undefined ? await this.nodes?.runElsewhere(parseId(id), source, signal) : null;
      if (elsewhere != null) return elsewhere;
      const living = here ?? (await this.connections.session(id));
      return await living.runScript(source, signal, options);
    } catch (error) {
      throw (encodeError(error).code === 'SESSION_ENDED' ? await this.#lostWorker(id) : null) ?? error;
    }
  }

  /** The error of a live session that ended because it lost its browser: later callers get it too. */
  async #lostWorker(id: string): Promise<TroupeError | null> {
    // The end may not be on disk yet.
    await this.#table.living(parseId(id))?.ended;
    const { mode, error, endedAt, endReason, status, node } = await this.get(id);
    // Its node is gone, and this one is about to end it.
    if (status === 'running' && this.nodes !== null) return nodeLost(node);
    if (mode !== 'live' || (error?.code !== 'WORKER_LOST' && error?.code !== 'NODE_LOST')) return null;
    return new TroupeError(error.code, error.error, { status, endReason, endedAt });
  }

  async nextFrame(id: string, order: FrameRequest, signal: AbortSignal): Promise<ScreenFrame | null> {
    const { id: sessionId, status } = await this.get(id);
    const living = this.#table.living(sessionId);
    if (living === undefined) throw new TroupeError('SESSION_ENDED', `The session has no screen: it is ${status}`);
    return living
      .actor()
      .ask('NextFrame', { ...order, user: 'viewers' }, { deadlineMs: order.timeoutMs + FRAME_GRACE_MS, signal });
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
    const { driver, version, clock, journal, cluster, config } = this.#parts;
    const { idleTimeout, hardTimeout, video } = config;
    const isLeaving = this.#stopping || cluster?.isDraining === true;
    const fault = this.#stopping ? null : journal.writeFault();
    const faults = threadFaults();
    return {
      status: isLeaving ? 'stopping' : fault === null ? 'ok' : 'failing',
      ...(fault === null ? {} : { reason: fault.message }),
      version,
      driver: driver.name,
      uptimeSeconds: Math.round((clock.now().getTime() - this.#startedAt) / 1000),
      capacity: this.#scheduler.capacity(),
      defaults: { idleTimeout, hardTimeout, video },
      ...(faults.length === 0 ? {} : { faults: [...faults] }),
    };
  }

  browserKind(): BrowserKind | null {
    return this.#parts.driver.browser;
  }

  /**
   * Ends the running sessions and releases all resources. Jobs have `drainMs` to finish; those that are queued, are in
   * their model phase, or may be retried stay on disk for the next start. Idempotent.
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
    // Jobs that stay queued will not end now, so callers that wait for them are released.
    this.#waiters.close();
    // An end that is written adds further work.
    while (this.#pendingWork.size > 0) await Promise.all(this.#pendingWork);
    await this.#parts.artifacts.close(drainMs);
    await this.batches.close();
    this.nodes?.close();
  }

  /** Resolves when no session runs or waits here, or the signal aborts. */
  async idle(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#table.allIds().length > 0)
      await pause(IDLE_CHECK_MS, { signal }).catch(() => undefined);
  }

  /** Ends a drain in progress: jobs that are still running are aborted. */
  abortDrain(): void {
    this.#drainAborted.abort();
  }

  /** A session's current state. Waits until a session that has just ended has written its files. */
  async #now(id: string): Promise<SessionNow> {
    const living = this.#table.living(parseId(id));
    if (living?.ended !== undefined) await living.gone();
    return { record: await this.get(id), files: living?.endpoint ?? null };
  }

  /** Resolves when what a session has done so far is on disk: an answer comes before the picture of its last step. */
  async #written(id: SessionId): Promise<void> {
    const living = this.#table.living(id);
    if (living === undefined || living.endpoint === null) return;
    const settle = async () => living.actor().ask('Settle', { pictureMs: PICTURE_MS }, { deadlineMs: SETTLE_MS });
    // One that ends meanwhile writes what it has by itself.
    await settle().catch(() => undefined);
    await this.#parts.hub.write({ records: [] });
  }

  /** Removes a session's artifacts, once all work on them has finished. */
  async #removeArtifacts({ id, artifacts }: Pick<SessionRecord, 'id' | 'artifacts'>): Promise<void> {
    if (artifacts === 'stored' && this.#parts.config.artifacts === undefined) throw storeMissing();
    await this.#leaving.get(id);
    await this.#parts.artifacts.remove(id);
  }

  async #drain(session: LivingSession, drainMs: number): Promise<void> {
    if (session.record.mode === 'live') {
      await session.end(stoppedEnd('shutdown'), 'immediate');
      return;
    }
    // A job that has not started stays on disk as it is.
    if (session.record.status === 'queued') return session.abandon();
    const bounds = { timeoutMs: drainMs, signal: this.#drainAborted.signal };
    // A job that is retried waits for the next start.
    const record = await this.#waitFor(session.record.id, ['SessionEnded', 'AttemptFailed'], bounds);
    if (record.status === 'running') session.interrupt();
  }

  /** Called when a session's end is on disk: releases its resources and writes its artifacts. */
  #sessionEnded(session: LivingSession): void {
    const { id } = session.record;
    const left = this.#cleanUp(session).finally(() => {
      this.#leaving.delete(id);
      this.#table.drop(id);
      this.#parts.hub.sessionGone(id);
    });
    this.#leaving.set(id, left);
    this.#awaitAtStop(left);
  }

  #awaitAtStop(work: Promise<void>): void {
    const waited = work.finally(() => this.#pendingWork.delete(waited));
    this.#pendingWork.add(waited);
  }

  async #cleanUp(session: LivingSession): Promise<void> {
    try {
      await session.gone();
      this.#parts.cluster?.release(session.record.id);
      await this.#shared?.leave(session.record.id);
      const { startedAt, error } = session.record;
      // Another node has it, or it never started and has nothing to report; its artifacts are created on request.
      if (startedAt !== null && error?.code !== 'NODE_LOST') await this.#parts.artifacts.finish(session.record);
    } catch (error) {
      this.#parts.log(`cleanup failed: ${sentenceOf(error)}`, { session: session.record.id });
    }
  }
}
