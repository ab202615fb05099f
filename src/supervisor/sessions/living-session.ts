import { join } from 'node:path';
import type { GiveUpSignal } from '../../actors/actor.js';
import type { BrowserEndpoint, BrowserLease } from '../../containers/driver.js';
import type { JournalBatch } from '../../journal/journal.js';
import { type ErrorBody, encodeError, TroupeError } from '../../protocol/errors.js';
import type { AutoRequest, LiveRequest, SessionRecord } from '../../protocol/session.js';
import type { RunOptions } from '../ports/sessions.js';
import {
  type BrowserOpening,
  REOPEN_MS,
  type SessionChild,
  type SessionTask,
  STOP_MS,
  startSessionActor,
} from './session-child.js';
import { SessionClocks } from './session-clocks.js';
import { SessionControl } from './session-control.js';
import type { SessionDependencies } from './session-dependencies.js';
import { actorEndError, interruptedEnd, lostEnd, outOfTimeEnd, type SessionEnd, stoppedEnd } from './session-end.js';
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
import { Attempt } from './task/attempt.js';
import type { OpenPhase, TaskProgress } from './task/task-phase.js';
import { runTask, type TaskParts } from './task/task-run.js';

/** An end that somebody waits for leaves the actor this long to tell of its last step. */
const DRAIN_MS = 50;
/** How much later than a connection's end a driver may say how the browser itself ended. */
const EXIT_REASON_MS = 1_000;
/** Scripts that wait at most in an actor, and what each may take beyond its own bound until it is answered. */
const SCRIPTS_AHEAD = 65;
const SCRIPT_GRACE_MS = 1_500;

/**
 * A session that waits or runs: the owner of its slot, its browser's lease and its actor, which stand in its state. It
 * releases all of them when it ends, whatever the reason, and it ends once.
 */
export class LivingSession {
  readonly request: LiveRequest | AutoRequest;
  readonly control: SessionControl;
  readonly #isJob: boolean;
  readonly #journal: SessionJournal;
  readonly #deps: SessionDependencies;
  readonly #resources: SessionResources;
  readonly clocks: SessionClocks;
  readonly #ending = new AbortController();
  readonly #onEnded: () => void;
  #state: SessionLifecycle = { kind: 'waiting' };
  /** A start or a requeue, which changes what is held: the release waits for it. */
  #work: Promise<unknown> = Promise.resolve();
  #ended: Promise<SessionRecord> | undefined;
  #released: Promise<void> | undefined;
  readonly #task = (): SessionTask => ({
    request: this.request,
    stepsDone: this.#journal.steps,
    driver: this.control.driver,
    batch: this.record.batch,
    opened: (pageLost) => {
      this.#journal.pageLost = pageLost;
    },
  });

  /** @param onEnded called once, when the session's end is on disk */
  constructor(
    deps: SessionDependencies,
    { request, record }: Pick<AcceptedSession, 'request' | 'record'>,
    onEnded: () => void,
  ) {
    this.#deps = deps;
    this.#onEnded = onEnded;
    this.request = request;
    this.#isJob = request.mode === 'auto';
    this.#journal = new SessionJournal(deps, {
      record,
      webhook: request.mode === 'auto' ? request.webhook : undefined,
      lease: () => heldBy(this.#state)?.lease?.identity ?? null,
      answered: (call) => heldBy(this.#state)?.actor?.ref.tell('ModelAnswerRecorded', { call }),
    });
    this.#resources = new SessionResources({
      dir: join(deps.config.sessionsDir, record.id),
      video: request.video ?? deps.config.video,
      clock: deps.clock,
      log: (line) => deps.log(line, { session: record.id }),
      state: () => this.#state,
      advance: (input) => this.#advance(input),
    });
    this.control = new SessionControl({
      clock: deps.clock,
      actor: () => this.actor(),
      emit: (event) => this.#journal.emit(event),
      touched: () => this.#touch(),
    });
    const { idleTimeout = deps.config.idleTimeout, hardTimeout = deps.config.hardTimeout } = request;
    this.clocks = new SessionClocks(
      deps.clock,
      { idleMs: idleTimeout * 1000, hardMs: hardTimeout * 1000 },
      {
        idle: () => void this.end(stoppedEnd('idle'), 'immediate'),
        hard: () => void this.#hardTimeoutPassed(),
      },
    );
  }

  get record(): SessionRecord {
    return this.#journal.record;
  }

  get journal(): Pick<SessionJournal, 'stored' | 'doing'> {
    return this.#journal;
  }

  /** Settles when its end is on disk; undefined until it is asked for. */
  get ended(): Promise<SessionRecord> | undefined {
    return this.#ended;
  }

  get endpoint(): BrowserEndpoint | null {
    const held = heldBy(this.#state);
    return held === null || held.isLeaving ? null : (held.lease?.endpoint ?? null);
  }

  /**
   * Makes the session ready: browser, actor, page. The slot is the session's from now on.
   * @param open the way to its browser
   * @param extra what goes to disk in the same transaction as the start
   * @throws what kept it from starting; everything is released then, and nothing of the start is on disk
   */
  begin(slot: Slot, open: BrowserOpening, deadlineMs: number, extra: JournalBatch = {}): Promise<void> {
    return this.#working(this.#start(slot, open, deadlineMs, extra));
  }

  /**
   * Goes on with the browser that an earlier service left: its page is as it was, its scripts and their scope are gone.
   * @throws what kept it from going on; everything is released then, the browser too, and the record is as it was
   */
  resume(slot: Slot, lease: BrowserLease): Promise<void> {
    return this.#working(this.#reconnect(slot, lease));
  }

  /** What it told before, under an earlier service or in an earlier attempt. Call before it begins or resumes. */
  recall(progress: Pick<TaskProgress, 'steps' | 'doing' | 'startedAt'>): void {
    this.#journal.recall(progress);
    if (progress.startedAt !== null) this.clocks.start(Date.parse(progress.startedAt));
  }

  /** Works on the task; answers how this attempt at it ended. Never rejects. */
  async work(
    request: AutoRequest,
    phase: OpenPhase,
    around: Pick<TaskParts, 'journaled' | 'freshBrowser'>,
  ): Promise<SessionEnd> {
    const attempt = attemptOf(this.#state);
    if (attempt === null) return lostEnd(new TroupeError('SESSION_ENDED', 'The session does not run'));
    const run = async () =>
      runTask(
        {
          config: this.#deps.config,
          record: this.record,
          request,
          actor: this.actor(),
          ...around,
          timeLeftMs: () => Math.max(1, this.clocks.timeLeftMs),
          signal: attempt.signal,
        },
        phase,
      );
    return attempt.end(run().catch((error) => this.#lostEnd(error)));
  }

  /** Its time is up since the service stops: {@link work} answers INTERRUPTED. */
  interrupt(): void {
    attemptOf(this.#state)?.abort(interruptedEnd('auto'));
  }

  /** Nothing works on it any more, and all its events are on disk. @throws the journal's write error */
  async rest(): Promise<void> {
    attemptOf(this.#state)?.close();
    await this.#resources.actorStopped(STOP_MS + 1_000);
    await this.#deps.hub.write({ records: this.#state.kind === 'running' ? [this.#journal.stored] : [] });
  }

  /**
   * Releases everything and waits again. False where the session has ended meanwhile.
   * @param failed what the attempt failed with, after which another begins; null for one that is to go on
   * @throws what the disk said
   */
  requeue(failed: { readonly error: ErrorBody; readonly retriesLeft: number } | null): Promise<boolean> {
    return this.#working(this.#requeue(failed));
  }

  /** @throws SESSION_BUSY, SESSION_ENDED, and whatever the script failed with */
  async runScript(source: string, signal: GiveUpSignal, { onDisconnect, control }: RunOptions): Promise<string> {
    const by = control !== undefined && this.control.holds(control) ? 'person' : 'agent';
    const isOver = this.#state.kind === 'ending' || this.#state.kind === 'ended';
    if (by === 'agent' && (control !== undefined || this.#isJob) && !isOver) {
      throw new TroupeError('SESSION_BUSY', 'The session works for a job; take its control first');
    }
    const timeoutMs = this.#deps.config.evalTimeout * 1000;
    const attempt = attemptOf(this.#state);
    this.#advance({ type: 'ScriptCame' });
    this.#touch();
    try {
      return await this.actor().ask(
        'RunScript',
        { source, kind: 'script', timeoutMs, onDisconnect, by },
        { deadlineMs: SCRIPTS_AHEAD * (timeoutMs + SCRIPT_GRACE_MS), signal },
      );
    } catch (error) {
      // A caller that gets WORKER_LOST finds the session ended.
      if (encodeError(error).code === 'WORKER_LOST') await this.#over(await this.#lostEnd(error), attempt);
      throw error;
    } finally {
      this.#advance({ type: 'ScriptLeft' });
      this.#touch();
    }
  }

  /**
   * Ends the session, once: later calls answer the first end. Settles when the end is on disk.
   * @param how `graceful` lets the actor finish what it reports; `immediate` gives it 50 ms and drops what comes after
   */
  end(end: SessionEnd, how: 'graceful' | 'immediate'): Promise<SessionRecord> {
    this.#ended ??= this.#endOnce(end, how);
    return this.#ended;
  }

  /** Gives up a start that nobody waits for any more. Settles when everything is released. */
  async abandon(): Promise<void> {
    this.#ending.abort(new TroupeError('SESSION_ENDED', 'Nobody waits for the session any more'));
    await this.#work.catch(() => undefined);
    if (this.record.status === 'queued') return;
    await this.end(stoppedEnd('deleted'), 'immediate');
    await this.gone();
  }

  /** Settles when everything that the session held is released. Call after {@link end}. */
  async gone(): Promise<void> {
    await this.#ended;
    await this.#released;
  }

  #working<T>(work: Promise<T>): Promise<T> {
    this.#work = work;
    return work;
  }

  async #requeue(failed: { readonly error: ErrorBody; readonly retriesLeft: number } | null): Promise<boolean> {
    this.clocks.stop();
    this.control.end();
    attemptOf(this.#state)?.close();
    await this.#resources.actorStopped(STOP_MS + 1_000);
    if (this.#ending.signal.aborted) return false;
    this.#advance({ type: 'Requeued' });
    const { attempt } = this.record;
    this.#journal.record = waitingRecord(this.record, failed === null ? attempt : attempt + 1, this.#deps.clock.now());
    const events = failed === null ? [] : [this.#journal.event('AttemptFailed', { attempt, ...failed })];
    try {
      await this.#deps.hub.write({ records: [{ ...this.#journal.stored, lease: null }], events });
    } finally {
      await this.#resources.release();
    }
    return !this.#ending.signal.aborted;
  }

  async #start(slot: Slot, open: BrowserOpening, deadlineMs: number, extra: JournalBatch): Promise<void> {
    const { driver, hub, clock } = this.#deps;
    const signal = this.#ending.signal;
    try {
      this.#begin(slot);
      // Also if nobody waits any more: a warm browser that was reserved for this session goes the way that open knows.
      const begunAt = clock.now();
      const { lease, child, warm } = await open(this.#task, { signal, deadlineMs });
      this.#resources.acquire(lease);
      const thread = this.#connected(child);
      // From here on an end is written after this start: both go through one ordered journal.
      signal.throwIfAborted();
      this.#journal.record = startedRecord(this.record, driver.name, clock.now());
      this.clocks.start();
      const facts = startFacts(this.record, { lease, warm, thread, begunAt, now: clock.now() });
      const events = [...(extra.events ?? []), this.#journal.event('SessionStarted', facts)];
      await hub.write(this.#journal.announced('started', { ...extra, records: [this.#journal.stored], events }));
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
      lease.permit(this.request);
      const start = { id: this.record.id, restart: 'transient', lease, task: this.#task, takesOver: true } as const;
      const child = await startSessionActor(this.#deps, { ...start, timeoutMs: REOPEN_MS, signal });
      const thread = this.#connected(child);
      signal.throwIfAborted();
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

  /** Publishes what the actor emits. Answers the number of its thread. */
  #connected(child: SessionChild): number {
    this.#advance({ type: 'ActorStarted', actor: child });
    child.events$.subscribe((events) => this.#journal.publish(events));
    return child.state.kind === 'running' ? child.state.thread : 0;
  }

  /** Ends what runs: the attempt, which others may follow, or a live session. */
  async #over(end: SessionEnd, attempt: Attempt | null): Promise<void> {
    if (this.#isJob) attempt?.abort(end);
    else await this.end(end, 'graceful');
  }

  #watch(lease: BrowserLease, child: SessionChild): void {
    const attempt = attemptOf(this.#state);
    void lease.exited.then(({ reason }) =>
      this.#over(lostEnd(new TroupeError('WORKER_LOST', `The browser of the session is gone: ${reason}`)), attempt),
    );
    this.#journal.emitRestarts(child);
    void child.terminated.then(async (termination) => {
      if ('error' in termination)
        await this.#over(await this.#lostEnd(actorEndError(this.record.mode, termination.error)), attempt);
    });
    // A job's flows are bounded by the same time where they run; this is for those that do not even answer then.
    this.clocks.strikeAfter(this.#isJob ? SCRIPT_GRACE_MS : 0);
    this.#touch();
  }

  /** How what the actor failed with ends it all. Of a lost browser its driver knows more, a moment after the connection. */
  async #lostEnd(error: unknown): Promise<SessionEnd> {
    if (encodeError(error).code === 'WORKER_LOST') await this.#resources.exitReason(EXIT_REASON_MS);
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
    if (how === 'graceful') await this.#resources.actorStopped(STOP_MS + 1_000);
    else if (idle) await this.#resources.actorSettled(DRAIN_MS);
    else await this.#resources.actorStopped(DRAIN_MS);
    this.#journal.record = endedRecord(this.record, end, this.#deps.clock.now());
    this.#journal.close();
    const { status, reason: endReason, summary, error } = end;
    const ended = this.#journal.event('SessionEnded', { status, endReason, summary, error });
    const batch = { records: [{ record: this.record, lease: null }], events: [ended] };
    // Whatever the disk does, what is held is released.
    this.#released = this.#work.catch(() => undefined).then(() => this.#resources.release(end.status === 'completed'));
    await writeEnd(this.#deps, this.record.id, this.#journal.announced('ended', batch));
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

  /** @throws SESSION_ENDED if there is none now */
  actor(): SessionChild['ref'] {
    const actor = heldBy(this.#state)?.actor ?? null;
    if (actor === null) throw new TroupeError('SESSION_ENDED', 'The session does not run');
    return actor.ref;
  }
}
