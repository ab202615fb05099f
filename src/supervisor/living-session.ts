import { join } from 'node:path';
import type { ChildState } from '../actors/child.js';
import type { FrameOrder, ScreenFrame } from '../actors/session/screen.js';
import type { BrowserEndpoint, BrowserLease } from '../containers/driver.js';
import type { JournalBatch, StoredSession } from '../journal/journal.js';
import { encodeError, TroupeError } from '../protocol/errors.js';
import type { EventData, EventType, JournalEvent, NewEvent, SessionEvent } from '../protocol/events.js';
import type { AutoRequest, LiveRequest, SessionRecord } from '../protocol/session.js';
import type { AcceptedSession } from './accepted-session.js';
import type { Place } from './admission.js';
import { newEvent } from './new-event.js';
import type { BrowserOpening } from './open-browser.js';
import type { SealedRequest } from './request-vault.js';
import { REOPEN_MS, type SessionChild, type SessionTask, STOP_MS, startSessionActor } from './session-child.js';
import { SessionClocks } from './session-clocks.js';
import { SessionControl } from './session-control.js';
import { lostEnd, outOfTimeEnd, type SessionEnd, stoppedEnd } from './session-end.js';
import { SessionHoldings } from './session-holdings.js';
import { advanceLife, type LifeInput, type SessionLife } from './session-life.js';
import { endedRecord, spentRecord, startedRecord } from './session-record.js';
import type { SessionSurroundings } from './session-surroundings.js';
import type { ScriptManner } from './sessions.js';
import { runTask, type TaskPhase } from './task-run.js';
import { writeEnd } from './write-end.js';

/** An end that somebody waits for leaves the actor this long to tell of its last step. */
const LAST_WORDS_MS = 50;
/** How much later than a connection's end a driver may say how the browser itself ended. */
const DRIVER_WORD_MS = 250;
/** Scripts that wait at most in an actor, and what each may take beyond its own bound until it is answered. */
const SCRIPTS_AHEAD = 65;
const SCRIPT_GRACE_MS = 1_500;
const FRAME_GRACE_MS = 2_000;

/**
 * A session that waits or runs: the owner of its place, its browser's lease and its actor. It gives all of them back
 * when it ends, whatever the reason, and it ends once.
 */
export class LivingSession {
  readonly request: LiveRequest | AutoRequest;
  readonly control: SessionControl;
  /** The request as the journal keeps it. */
  readonly #sealed: SealedRequest;
  readonly #around: SessionSurroundings;
  readonly #held: SessionHoldings;
  readonly #clocks: SessionClocks;
  readonly #ending = new AbortController();
  readonly #onEnded: () => void;
  #record: SessionRecord;
  #life: SessionLife = { kind: 'waiting' };
  #begun: Promise<void> = Promise.resolve();
  #ended: Promise<SessionRecord> | undefined;
  #gone: Promise<void> | undefined;
  /** The number of the last step: an actor that is started again goes on from there. */
  #steps = 0;
  /** The last start found a page that did not answer. */
  #pageLost = false;
  readonly #task = (): SessionTask => ({
    request: this.request,
    stepsDone: this.#steps,
    driver: this.control.driver,
    opened: (pageLost) => {
      this.#pageLost = pageLost;
    },
  });
  /** False once the end is being written: a session shows nothing after its end. */
  #writesEvents = true;

  /** @param onEnded called once, when the session's end is on disk */
  constructor(around: SessionSurroundings, { request, record, caller }: AcceptedSession, onEnded: () => void) {
    this.#around = around;
    this.#onEnded = onEnded;
    this.request = request;
    this.#sealed = around.vault.seal(request, caller);
    this.#record = record;
    const log = (line: string) => around.log(`session ${record.id}: ${line}`);
    this.#held = new SessionHoldings(join(around.config.sessionsDir, record.id, 'downloads'), log);
    this.control = new SessionControl({
      clock: around.clock,
      actor: () => this.#actor(),
      tell: (event) => this.#publish([newEvent(this.#record.id, event, around.clock.now())]),
      touched: () => this.#touch(),
    });
    this.#clocks = new SessionClocks(around.clock, {
      idle: () => void this.end(stoppedEnd('idle'), 'cut'),
      hard: () => void this.#hardTimeoutPassed(),
    });
  }

  get record(): SessionRecord {
    return this.#record;
  }

  /** What the journal keeps of this session now: enough to begin it again, with what its request names. */
  get stored(): StoredSession {
    return { record: this.#record, request: this.#sealed, lease: this.#held.lease?.identity ?? null };
  }

  /** Where its browser is and its files are, while it has one. */
  get endpoint(): BrowserEndpoint | null {
    return this.#held.endpoint;
  }

  /**
   * Takes a place and makes the session ready: browser, actor, page.
   * @param open the way to its browser
   * @param extra what goes to disk in the same transaction as the start
   * @throws what kept it from starting; everything is given back then, and nothing of the start is on disk
   */
  begin(place: Place, open: BrowserOpening, deadlineMs: number, extra: JournalBatch = {}): Promise<void> {
    this.#held.takePlace(place);
    this.#advance('Begun');
    this.#begun = this.#start(open, deadlineMs, extra);
    return this.#begun;
  }

  /**
   * Goes on with the browser that an earlier service left: its page is as it was, its scripts and their scope are gone.
   * @param stepsDone steps that it told of before
   * @throws what kept it from going on; everything is given back then, the browser too, and the record is as it was
   */
  resume(place: Place, lease: BrowserLease, stepsDone: number): Promise<void> {
    this.#held.takePlace(place);
    this.#held.takeLease(lease);
    this.#steps = stepsDone;
    this.#advance('Begun');
    this.#begun = this.#reconnect(lease);
    return this.#begun;
  }

  /**
   * Works on the task and ends the session by how that ended. Settles when the end is on disk.
   * @param journaled everything that the session has told so far
   */
  async work(request: AutoRequest, phase: TaskPhase, journaled: () => AsyncIterable<JournalEvent>): Promise<void> {
    try {
      const end = await runTask(
        {
          config: this.#around.config,
          record: this.#record,
          request,
          actor: this.#actor(),
          journaled,
          timeLeftMs: () => Math.max(1, this.#hardTimeoutMs() - this.#ageMs()),
          signal: this.#ending.signal,
        },
        phase,
      );
      await this.end(end, 'whole');
    } catch (error) {
      await this.#lost(error);
    }
  }

  /** @throws SESSION_BUSY, SESSION_ENDED, and whatever the script failed with */
  async runScript(js: string, signal: AbortSignal, { whenGone, control }: ScriptManner): Promise<string> {
    const by = control !== undefined && this.control.holds(control) ? 'person' : 'agent';
    if (by === 'agent' && (control !== undefined || this.#record.mode === 'auto') && this.#life.kind !== 'ending') {
      throw new TroupeError('SESSION_BUSY', 'The session works for a job; take its control first');
    }
    const timeoutMs = this.#around.config.evalTimeout * 1000;
    this.#advance('ScriptCame');
    this.#touch();
    try {
      return await this.#actor().ask(
        'RunScript',
        { js, kind: 'script', timeoutMs, whenGone, by },
        { deadlineMs: SCRIPTS_AHEAD * (timeoutMs + SCRIPT_GRACE_MS), signal },
      );
    } catch (error) {
      // Who is told that the browser is gone finds the session ended.
      if (encodeError(error).code === 'WORKER_LOST') await this.#lost(error);
      throw error;
    } finally {
      this.#advance('ScriptLeft');
      this.#touch();
    }
  }

  /** @throws SESSION_ENDED, and what keeps the actor from answering */
  nextFrame(order: FrameOrder, signal: AbortSignal): Promise<ScreenFrame | null> {
    return this.#actor().ask('NextFrame', order, { deadlineMs: order.timeoutMs + FRAME_GRACE_MS, signal });
  }

  /**
   * Ends the session, once: later calls answer the first end. Settles when the end is on disk.
   * @param how `whole` lets the actor finish what it reports; `cut` gives it 50 ms and drops what comes after
   */
  end(end: SessionEnd, how: 'whole' | 'cut'): Promise<SessionRecord> {
    this.#ended ??= this.#endOnce(end, how);
    return this.#ended;
  }

  /** Gives up a start that nobody waits for any more. Settles when everything is given back. */
  async abandon(): Promise<void> {
    this.#ending.abort(new TroupeError('SESSION_ENDED', 'Nobody waits for the session any more'));
    await this.#begun.catch(() => undefined);
    if (this.#record.status === 'queued') return;
    await this.end(stoppedEnd('deleted'), 'cut');
    await this.gone();
  }

  /** Settles when everything that the session held is given back. Call after {@link end}. */
  async gone(): Promise<void> {
    await this.#ended;
    await this.#gone;
  }

  async #start(open: BrowserOpening, deadlineMs: number, extra: JournalBatch): Promise<void> {
    const { driver, hub, clock } = this.#around;
    const signal = this.#ending.signal;
    try {
      signal.throwIfAborted();
      const { lease, child } = await open(this.#task, { signal, deadlineMs });
      this.#held.takeLease(lease);
      const thread = this.#connected(child);
      // From here on an end is written after this start: both go through one ordered journal.
      signal.throwIfAborted();
      this.#record = startedRecord(this.#record, driver.name, clock.now());
      const started = this.#event('SessionStarted', { driver: driver.name, browser: lease.endpoint.product, thread });
      await hub.write({ ...extra, records: [this.stored], events: [...(extra.events ?? []), started] });
      signal.throwIfAborted();
      this.#advance('Opened');
      this.#watch(lease, child);
    } catch (error) {
      await this.#held.giveBack();
      throw signal.aborted ? signal.reason : error;
    }
  }

  async #reconnect(lease: BrowserLease): Promise<void> {
    const signal = this.#ending.signal;
    try {
      const { endpoint } = lease;
      lease.permit(this.request);
      const start = { id: this.#record.id, restart: 'transient', endpoint, task: this.#task, takesOver: true } as const;
      const child = await startSessionActor(this.#around, { ...start, timeoutMs: REOPEN_MS, signal });
      const thread = this.#connected(child);
      signal.throwIfAborted();
      await this.#around.hub.write({ records: [this.stored], events: [this.#restarted(thread, 0)] });
      this.#advance('Opened');
      this.#watch(lease, child);
    } catch (error) {
      await this.#held.giveBack();
      throw error;
    }
  }

  /** Takes what the actor tells. Answers the number of its thread. */
  #connected(child: SessionChild): number {
    this.#held.takeChild(child);
    child.events$.subscribe((events) => this.#publish(events));
    return child.state.kind === 'running' ? child.state.thread : 0;
  }

  #watch(lease: BrowserLease, child: SessionChild): void {
    void lease.exited.then(({ reason }) =>
      this.end(lostEnd(new TroupeError('WORKER_LOST', `The browser of the session is gone: ${reason}`)), 'whole'),
    );
    child.states$.subscribe((state) => this.#actorBecame(state));
    void child.terminated.then(async (termination) => {
      if ('error' in termination) await this.#lost(this.#actorError(termination.error));
    });
    // A job's flows are bounded by the same time where they run; this is for those that do not even answer then.
    const grace = this.#record.mode === 'auto' ? SCRIPT_GRACE_MS : 0;
    this.#clocks.startHard(Math.max(0, this.#hardTimeoutMs() + grace - this.#ageMs()));
    this.#touch();
  }

  /** An actor that is there again has lost its scripts and their scope, and of its pages those that do not answer. */
  #actorBecame(state: ChildState): void {
    if (state.kind !== 'running') return;
    const { thread, attempt } = state;
    this.#publish([this.#restarted(thread, attempt)]);
  }

  #restarted(thread: number, attempt: number): NewEvent {
    return this.#event('SessionRestarted', { thread, attempt, ...(this.#pageLost ? { pageLost: true } : {}) });
  }

  /** Why a session ended whose actor ended for good. */
  #actorError(error: unknown): unknown {
    if (encodeError(error).code === 'WORKER_LOST') return error;
    if (this.#record.mode === 'auto') return interruptedError(error);
    return new TroupeError('WORKER_LOST', 'The session could not be restarted', undefined, { cause: error });
  }

  /** What ended the actor. Of a browser that is gone its driver knows more, a moment after the connection broke. */
  async #lost(error: unknown): Promise<void> {
    const { lease } = this.#held;
    if (lease !== undefined && encodeError(error).code === 'WORKER_LOST') {
      await new Promise<void>((resolve) => {
        const cancel = this.#around.clock.after(DRIVER_WORD_MS, resolve);
        void lease.exited.then(() => {
          cancel();
          resolve();
        });
      });
    }
    await this.end(lostEnd(error), 'whole');
  }

  async #hardTimeoutPassed(): Promise<void> {
    if (this.#record.mode === 'live') await this.end(stoppedEnd('hard'), 'cut');
    else await this.end(outOfTimeEnd(this.#hardTimeoutMs() / 1000), 'whole');
  }

  async #endOnce(end: SessionEnd, how: 'whole' | 'cut'): Promise<SessionRecord> {
    const idle = this.#life.kind === 'running' && this.#life.scripts === 0;
    this.#advance('Ended');
    this.#clocks.stop();
    this.control.end();
    this.#ending.abort(new TroupeError('SESSION_ENDED', 'The session has ended'));
    if (how === 'whole') await this.#actorStopped(STOP_MS + 1_000);
    else if (idle) await this.#actorSettled();
    else await this.#actorStopped(LAST_WORDS_MS);
    this.#record = endedRecord(this.#record, end, this.#around.clock.now());
    this.#writesEvents = false;
    const { status, reason: endReason, summary, error } = end;
    const ended = this.#event('SessionEnded', { status, endReason, summary, error });
    // Nobody begins it again: what its request held is gone from the disk with its end.
    const batch = { records: [{ record: this.#record, request: null, lease: null }], events: [ended] };
    // Whatever the disk does, what is held is given back.
    this.#gone = this.#begun.catch(() => undefined).then(() => this.#held.giveBack());
    await writeEnd(this.#around, this.#record.id, batch);
    this.#onEnded();
    return this.#record;
  }

  /** Where no script runs, the last words are said without waiting for the actor's end. */
  async #actorSettled(): Promise<void> {
    await this.#held.child?.ref.ask('Settle', null, { deadlineMs: LAST_WORDS_MS }).catch(() => undefined);
  }

  /** Stops the actor, and waits for it as long as is allowed here. */
  #actorStopped(ms: number): Promise<void> {
    const { child } = this.#held;
    if (child === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#around.clock.after(ms, resolve);
      void child.stop().then(() => {
        cancel();
        resolve();
      });
    });
  }

  #touch(): void {
    if (this.#life.kind !== 'running') return;
    this.#record = { ...this.#record, lastActivityAt: this.#around.clock.now().toISOString() };
    const busy = this.#life.scripts > 0 || this.#record.mode === 'auto';
    this.#clocks.restartIdle(busy ? null : (this.request.idleTimeout ?? this.#around.config.idleTimeout) * 1000);
  }

  #advance(input: LifeInput): void {
    this.#life = advanceLife(this.#life, input);
  }

  #hardTimeoutMs(): number {
    return (this.request.hardTimeout ?? this.#around.config.hardTimeout) * 1000;
  }

  #ageMs(): number {
    const { startedAt } = this.#record;
    return startedAt === null ? 0 : this.#around.clock.now().getTime() - Date.parse(startedAt);
  }

  #actor(): SessionChild['ref'] {
    if (this.#held.child === undefined) throw new TroupeError('SESSION_ENDED', 'The session does not run');
    return this.#held.child.ref;
  }

  #publish(events: readonly NewEvent[]): void {
    if (!this.#writesEvents) return;
    for (const event of events) if (event.type === 'StepFinished') this.#steps = event.data.index;
    const answers = events.flatMap((event) => (event.type === 'ModelCallFinished' ? [event.data] : []));
    for (const answer of answers) this.#record = spentRecord(this.#record, answer);
    const records = answers.length === 0 ? [] : [this.stored];
    this.#around.hub.write({ records, events }).then(
      () => {
        for (const { call } of answers) this.#held.child?.ref.tell('ModelAnswerRecorded', { call });
      },
      (error) =>
        this.#around.log(`session ${this.#record.id}: ${events.length} events were not written: ${String(error)}`),
    );
  }

  #event<T extends EventType>(type: T, data: EventData<T>): NewEvent {
    return newEvent(this.#record.id, { type, data } as SessionEvent, this.#around.clock.now());
  }
}

function interruptedError(cause: unknown): TroupeError {
  return new TroupeError('INTERRUPTED', 'The session was restarted in the middle of a flow', undefined, { cause });
}
