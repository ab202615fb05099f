import { join } from 'node:path';
import type { GiveUpSignal } from '../../actors/actor.js';
import { stretched } from '../../base/deadline.js';
import type { BrowserEndpoint, BrowserLease } from '../../containers/driver.js';
import type { JournalBatch } from '../../journal/journal.js';
import { type ErrorBody, encodeError, TroupeError } from '../../protocol/errors.js';
import {
  type AutoRequest,
  type LiveRequest,
  type SessionRecord,
  warningOfScreenshots,
} from '../../protocol/session.js';
import { optionsFor } from '../../session/session-options.js';
import type { RunOptions } from '../ports/sessions.js';
import { type BrowserSource, SecondBrowsers } from './second-browsers.js';
import {
  type BrowserOpening,
  REOPEN_MS,
  SCRIPT_GRACE_MS,
  type SessionChild,
  type SessionTask,
  STOP_MS,
  scriptDeadlineMs,
  startSessionActor,
} from './session-child.js';
import { SessionClocks, timeLimits } from './session-clocks.js';
import { SessionControl } from './session-control.js';
import type { SessionDependencies } from './session-dependencies.js';
import { actorEndError, interruptedEnd, lostEnd, outOfTimeEnd, type SessionEnd, stoppedEnd } from './session-end.js';
import { SessionHandoff } from './session-handoff.js';
import { SessionJournal, writeEnd } from './session-journal.js';
import {
  attemptOf,
  heldBy,
  type LifecycleInput,
  type SessionLifecycle,
  type Slot,
  transition,
} from './session-lifecycle.js';
import { type AcceptedSession, endedRecord, startedRecord, startFacts, waitingRecord } from './session-record.js';
import { SessionResources } from './session-resources.js';
import { SessionStates } from './session-states.js';
import { Attempt } from './task/attempt.js';
import type { OpenPhase, TaskProgress } from './task/task-phase.js';
import { runTask, type TaskParts } from './task/task-run.js';

/** How long an immediate end waits for the picture of the last step. */
const DRAIN_MS = 50;

type LivingDependencies = SessionDependencies & BrowserSource;

/** A session that waits or runs. It owns what its state records: slot, lease, and actor. It ends once and releases them. */
export class LivingSession {
  readonly request: LiveRequest | AutoRequest;
  readonly control: SessionControl;
  readonly handoff: SessionHandoff;
  readonly seconds: SecondBrowsers;
  readonly #isJob: boolean;
  readonly #journal: SessionJournal;
  readonly #deps: LivingDependencies;
  readonly #resources: SessionResources;
  readonly #states: SessionStates;
  readonly clocks: SessionClocks;
  readonly #ending = new AbortController();
  readonly #onEnded: () => void;
  #state: SessionLifecycle = { kind: 'waiting' };
  /** The current start or requeue, which changes the resources: releasing them waits for it. */
  #work: Promise<unknown> = Promise.resolve();
  #ended: Promise<SessionRecord> | undefined;
  #released: Promise<void> | undefined;
  readonly #task = (): SessionTask => ({
    request: this.request,
    stepsDone: this.#journal.steps,
    controller: this.control.controller,
    batch: this.record.batch,
    opened: (pageLost) => {
      this.#journal.pageLost = pageLost;
    },
  });

  /** @param onEnded called once, when the session's end is on disk */
  constructor(deps: LivingDependencies, { request, record, caller }: AcceptedSession, onEnded: () => void) {
    this.#deps = deps;
    this.#onEnded = onEnded;
    this.request = request;
    this.#isJob = request.mode === 'auto';
    this.#journal = new SessionJournal(deps, {
      record,
      webhook: request.mode === 'auto' ? { url: request.webhook, format: request.webhookFormat } : {},
      lease: () => heldBy(this.#state)?.lease?.identity ?? null,
      handoffChanged: () => this.handoff.changed(),
      stateCollected: (state) => void this.#states.save(state),
      browserRequested: (wanted) => this.seconds.requested(wanted),
      browserLost: (name) => this.seconds.lost(name),
      answered: (call, error) => heldBy(this.#state)?.actor?.ref.tell('ModelAnswerRecorded', { call, error }),
    });
    const log = (line: string) => deps.log(line, { session: record.id });
    this.#states = new SessionStates({ ...deps, id: record.id, caller, log, actor: () => this.actor() });
    const dir = join(deps.config.sessionsDir, record.id);
    this.seconds = new SecondBrowsers({ ...deps, request, caller, dir, log, actor: () => this.actor() });
    this.#resources = new SessionResources({
      ...deps,
      dir,
      seconds: this.seconds,
      video: request.video ?? deps.config.video,
      log,
      videoFailed: (reason) => this.#journal.emit({ type: 'VideoFailed', data: { reason } }),
      state: () => this.#state,
      advance: (input) => this.#advance(input),
    });
    this.control = new SessionControl({
      clock: deps.clock,
      actor: () => this.actor(),
      emit: (event) => this.#journal.emit(event),
      touched: () => this.#touch(),
    });
    this.clocks = new SessionClocks(deps.clock, timeLimits(request, deps.config), {
      idle: () => void this.end(stoppedEnd('idle'), 'immediate'),
      hard: () => void this.#hardTimeoutPassed(),
    });
    this.handoff = new SessionHandoff(this);
  }

  get record(): SessionRecord {
    return this.#journal.record;
  }

  get journal(): Pick<SessionJournal, 'stored' | 'activity'> {
    return this.#journal;
  }

  /** Resolves when the end is on disk; undefined until the end was requested. */
  get ended(): Promise<SessionRecord> | undefined {
    return this.#ended;
  }

  get endpoint(): BrowserEndpoint | null {
    const held = heldBy(this.#state);
    return held === null || held.isReleasing ? null : (held.lease?.endpoint ?? null);
  }

  /**
   * Makes the session ready: browser, actor, page. Takes ownership of the slot.
   * @param open opens the browser
   * @param extra written to the journal in the same transaction as the start
   * @throws why it could not start; everything is then released, and nothing of the start is on disk
   */
  begin(slot: Slot, open: BrowserOpening, deadlineMs: number, extra: JournalBatch = {}): Promise<void> {
    return this.#track(this.#start(slot, open, deadlineMs, extra));
  }

  /**
   * Continues with the browser of an earlier run. Its page is unchanged; its scripts and their scope are lost.
   * @throws why it could not continue; everything is then released, including the browser, and the record is unchanged
   */
  resume(slot: Slot, lease: BrowserLease): Promise<void> {
    return this.#track(this.#reconnect(slot, lease));
  }

  /** Restores the progress of an earlier run or attempt. Call before {@link begin} or {@link resume}. */
  restore(progress: Pick<TaskProgress, 'steps' | 'activity' | 'startedAt' | 'browsers'>): void {
    this.#journal.restore(progress);
    this.seconds.restore(progress.browsers);
    if (progress.startedAt !== null) this.clocks.start(Date.parse(progress.startedAt));
  }

  /** Works on the task, and returns how this attempt ended. Never rejects. */
  async work(
    request: AutoRequest,
    phase: OpenPhase,
    context: Pick<TaskParts, 'journaled' | 'freshBrowser'>,
  ): Promise<SessionEnd> {
    const attempt = attemptOf(this.#state);
    if (attempt === null) return lostEnd(new TroupeError('SESSION_ENDED', 'The session is not running'));
    const run = async () =>
      runTask(
        {
          config: this.#deps.config,
          record: this.record,
          request,
          actor: this.actor(),
          ...context,
          keepValue: (value) => this.#states.keepValue(value),
          timeLeftMs: () => Math.max(1, this.clocks.timeLeftMs),
          signal: attempt.signal,
        },
        phase,
      );
    return attempt.end(run().catch((error) => this.#lostEnd(error)));
  }

  /** Ends the attempt because the service stops: {@link work} returns INTERRUPTED. */
  interrupt(): void {
    attemptOf(this.#state)?.abort(interruptedEnd('auto'));
  }

  /** Stops all work, and resolves when all events are on disk. @throws the journal's write error */
  async settle(): Promise<void> {
    attemptOf(this.#state)?.close();
    await this.#resources.actorStopped(STOP_MS + 1_000);
    await this.#deps.hub.write({ records: this.#state.kind === 'running' ? [this.#journal.stored] : [] });
  }

  /**
   * Releases everything and waits again. False if the session has ended meanwhile.
   * @param failed the attempt's error, if another attempt follows; null to continue this one
   * @throws the journal's error
   */
  requeue(failed: { readonly error: ErrorBody; readonly retriesLeft: number } | null): Promise<boolean> {
    return this.#track(this.#requeue(failed));
  }

  /** @throws SESSION_BUSY, SESSION_ENDED, and the script's error */
  async runScript(source: string, signal: GiveUpSignal, { onDisconnect, control }: RunOptions): Promise<string> {
    const by = control !== undefined && this.control.holds(control) ? 'person' : 'agent';
    const isOver = this.#state.kind === 'ending' || this.#state.kind === 'ended';
    if (by === 'agent' && (control !== undefined || this.#isJob) && !isOver) {
      throw new TroupeError('SESSION_BUSY', 'The session is running a job; take control of it first');
    }
    const timeoutMs = stretched(this.#deps.config.evalTimeout * 1000);
    const attempt = attemptOf(this.#state);
    this.#advance({ type: 'ScriptSubmitted' });
    this.#touch();
    try {
      return await this.actor().ask(
        'RunScript',
        { source, kind: 'script', timeoutMs, onDisconnect, by },
        { deadlineMs: scriptDeadlineMs(timeoutMs), signal },
      );
    } catch (error) {
      // A caller that gets WORKER_LOST must find the session ended.
      if (encodeError(error).code === 'WORKER_LOST') await this.#endWork(await this.#lostEnd(error), attempt);
      throw error;
    } finally {
      this.#advance({ type: 'ScriptSettled' });
      this.#touch();
    }
  }

  /**
   * Ends the session, once: later calls return the first end. Resolves when the end is on disk.
   * @param how `graceful` lets the actor finish its events; `immediate` gives it 50 ms and drops later ones
   */
  end(end: SessionEnd, how: 'graceful' | 'immediate'): Promise<SessionRecord> {
    this.#ended ??= this.#endOnce(end, how);
    return this.#ended;
  }

  /** Cancels a start that is no longer needed. Resolves when everything is released. */
  async abandon(): Promise<void> {
    this.#ending.abort(new TroupeError('SESSION_ENDED', 'The session is no longer needed'));
    await this.#work.catch(() => undefined);
    if (this.record.status === 'queued') return;
    await this.end(stoppedEnd('deleted'), 'immediate');
    await this.gone();
  }

  /** Resolves when all resources are released. Call after {@link end}. */
  async gone(): Promise<void> {
    await this.#ended;
    await this.#released;
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#work = work;
    return work;
  }

  async #requeue(failed: { readonly error: ErrorBody; readonly retriesLeft: number } | null): Promise<boolean> {
    this.clocks.stop();
    this.control.end();
    attemptOf(this.#state)?.close();
    await this.#resources.actorFinished(STOP_MS + 1_000);
    if (this.#ending.signal.aborted) return false;
    this.#advance({ type: 'Requeued' });
    const { attempt } = this.record;
    this.#journal.record = waitingRecord(this.record, failed === null ? attempt : attempt + 1, this.#deps.clock.now());
    const events = failed === null ? [] : [this.#journal.event('AttemptFailed', { attempt, ...failed })];
    try {
      await this.#deps.hub.write({ records: [{ ...this.#journal.stored, lease: null }], events, isKept: true });
    } finally {
      await this.#resources.release();
    }
    return !this.#ending.signal.aborted;
  }

  async #start(slot: Slot, open: BrowserOpening, deadlineMs: number, extra: JournalBatch): Promise<void> {
    const { driver, clock, config } = this.#deps;
    const signal = this.#ending.signal;
    try {
      this.#begin(slot);
      // Call it even if the start was cancelled: `open` knows what to do with a warm browser that was reserved.
      const begunAt = clock.now();
      const { lease, child, warm } = await this.#states.open(open, this.#task, { signal, deadlineMs });
      this.#resources.acquire(lease);
      const thread = this.#connected(child);
      // From here on, an end is written after this start, since the journal keeps the order.
      signal.throwIfAborted();
      this.#journal.record = startedRecord(this.record, {
        driver: driver.name,
        node: config.node?.id,
        isStored: config.artifacts !== undefined,
        now: clock.now(),
      });
      this.clocks.start();
      const facts = startFacts(this.record, { lease, warm, thread, begunAt, now: clock.now() });
      const events = [...(extra.events ?? []), this.#journal.event('SessionStarted', facts)];
      const warning = warningOfScreenshots(this.#task().request.screenshots);
      if (warning !== null) events.push(this.#journal.event('ConsoleWritten', { level: 'warn', text: warning }));
      await this.#journal.writeStart({ ...extra, records: [this.#journal.stored], events }, signal);
      signal.throwIfAborted();
      this.#advance({ type: 'Opened' });
      this.#watch(lease, child);
    } catch (error) {
      await this.#resources.release();
      throw signal.aborted ? signal.reason : error;
    }
  }

  async #reconnect(slot: Slot, lease: BrowserLease): Promise<void> {
    const signal = this.#ending.signal;
    try {
      this.#begin(slot);
      this.#resources.acquire(lease);
      const start = { id: this.record.id, restart: 'transient', lease, task: this.#task, takesOver: true } as const;
      const child = await startSessionActor(this.#deps, { ...start, timeoutMs: REOPEN_MS, signal });
      const thread = this.#connected(child);
      // Not before: a page that was left behind is closed now if its requests were mocked.
      lease.permit(optionsFor('network', this.request));
      signal.throwIfAborted();
      await this.#journal.findWebhook();
      await this.#deps.hub.write({ records: [this.#journal.stored], events: [this.#journal.restarted(thread, 0)] });
      this.#advance({ type: 'Opened' });
      this.#watch(lease, child);
    } catch (error) {
      await this.#resources.release();
      throw error;
    }
  }

  #begin(slot: Slot): void {
    this.#advance({ type: 'Begun', slot, attempt: this.#isJob ? new Attempt(this.#ending.signal) : null });
  }

  /** Publishes the actor's events. Returns the index of its thread. */
  #connected(child: SessionChild): number {
    this.#advance({ type: 'ActorStarted', actor: child });
    child.events$.subscribe((events) => this.#journal.publish(events));
    return child.state.kind === 'running' ? child.state.thread : 0;
  }

  /** Ends a job's attempt, which others may follow, or a live session. */
  async #endWork(end: SessionEnd, attempt: Attempt | null): Promise<void> {
    if (this.#isJob) attempt?.abort(end);
    else await this.end(end, 'graceful');
  }

  #watch(lease: BrowserLease, child: SessionChild): void {
    const attempt = attemptOf(this.#state);
    void lease.exited.then(({ reason }) =>
      this.#endWork(lostEnd(new TroupeError('WORKER_LOST', `The browser of the session is gone: ${reason}`)), attempt),
    );
    this.#journal.emitRestarts(child);
    this.seconds.watch(child);
    void child.terminated.then(async (termination) => {
      if ('error' in termination)
        await this.#endWork(await this.#lostEnd(actorEndError(this.record.mode, termination.error)), attempt);
    });
    // A job's flows have the same time limit in the actor; this timer is for actors that do not respond even then.
    this.clocks.startHardTimer(this.#isJob ? SCRIPT_GRACE_MS : 0);
    this.#touch();
  }

  /** The end for an actor's error. If the browser was lost, waits briefly for the driver's exit reason. */
  async #lostEnd(error: unknown): Promise<SessionEnd> {
    if (encodeError(error).code === 'WORKER_LOST') await this.#resources.exitReason();
    return lostEnd(error);
  }

  async #hardTimeoutPassed(): Promise<void> {
    if (!this.#isJob) await this.end(stoppedEnd('hard'), 'immediate');
    else attemptOf(this.#state)?.abort(outOfTimeEnd(this.request.hardTimeout ?? this.#deps.config.hardTimeout));
  }

  async #endOnce(end: SessionEnd, how: 'graceful' | 'immediate'): Promise<SessionRecord> {
    const idle = this.#state.kind === 'running' && this.#state.scripts === 0;
    this.#advance({ type: 'Ended' });
    this.clocks.stop();
    this.control.end();
    this.#ending.abort(new TroupeError('SESSION_ENDED', 'The session has ended'));
    if (how === 'graceful') await this.#resources.actorFinished(STOP_MS + 1_000);
    else if (idle) await this.#resources.actorSettled(DRAIN_MS);
    else await this.#resources.actorStopped(DRAIN_MS);
    this.#journal.record = endedRecord(this.record, end, this.#deps.clock.now());
    this.#journal.close();
    const { status, reason: endReason, summary, error, outcome } = end;
    const ended = this.#journal.event('SessionEnded', {
      status,
      endReason,
      summary,
      error,
      ...(outcome === undefined ? {} : { outcome }),
    });
    const batch = { records: [{ record: this.record, lease: null }], events: [ended] };
    // Release the resources even if the disk fails.
    this.#released = this.#work.catch(() => undefined).then(() => this.#resources.release(end.status === 'completed'));
    await writeEnd(this.#deps, this.record.id, this.#journal.withWebhook('ended', batch));
    this.#onEnded();
    return this.record;
  }

  #touch(): void {
    if (this.#state.kind !== 'running') return;
    this.#journal.touch();
    this.clocks.restartIdle(this.#state.scripts > 0 || this.#isJob);
  }

  #advance(input: LifecycleInput): void {
    this.#state = transition(this.#state, input);
  }

  /** @throws SESSION_ENDED if there is none */
  actor(): SessionChild['ref'] {
    const actor = heldBy(this.#state)?.actor ?? null;
    if (actor === null) throw new TroupeError('SESSION_ENDED', 'The session is not running');
    return actor.ref;
  }
}
