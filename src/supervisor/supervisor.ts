import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { isCallable } from '../config/models.js';
import type { BrowserLease } from '../containers/driver.js';
import type { Journal } from '../journal/journal.js';
import { TroupeError } from '../protocol/errors.js';
import type { JournalEvent } from '../protocol/events.js';
import {
  type AutoRequest,
  isEnded,
  type ListQuery,
  type LiveRequest,
  type SessionId,
  type SessionRecord,
} from '../protocol/session.js';
import { Admission, type Place } from './admission.js';
import type { ArtifactKeeper } from './artifact-keeper.js';
import { journaledEvents } from './journaled-events.js';
import { LivingSession, newEvent, type SessionSurroundings } from './living-session.js';
import { type Resumed, recoverSessions } from './recovery.js';
import { assertSupported, checkTask } from './request-check.js';
import { interruptedEnd, lostEnd, stoppedEnd } from './session-end.js';
import { type FileDirs, listFiles, openFile, storeUpload } from './session-files.js';
import { acceptedRecord, newSessionId } from './session-record.js';
import { parseId, SessionTable } from './session-table.js';
import type { Health, ModelInfo, SessionFile, Sessions } from './sessions.js';
import type { TaskPhase } from './task-run.js';
import { WarmPool } from './warm-pool.js';

/** What the supervisor is built from. */
export interface SupervisorParts extends SessionSurroundings {
  readonly journal: Journal;
  readonly artifacts: ArtifactKeeper;
  readonly version: string;
}

/**
 * Who lives and who may enter. It owns the living sessions, admits new ones, ends them, and answers for those that have
 * ended from the journal.
 */
export class Supervisor implements Sessions {
  readonly #parts: SupervisorParts;
  readonly #admission: Admission;
  readonly #table: SessionTable;
  readonly #pool: WarmPool;
  /** Clean-up after ends, so that a stop can wait for it. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #startedAt: number;
  readonly #drainOver = new AbortController();
  readonly #drained = new AbortController();
  #stopping = false;

  private constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#admission = new Admission({
      maxSessions: parts.config.maxSessions,
      maxQueue: parts.config.maxQueue,
      clock: parts.clock,
      onReleased: () => this.#pool.placeFreed(),
    });
    this.#pool = new WarmPool({
      ...parts,
      freePlaces: () => parts.config.maxSessions - this.#admission.running,
      availableBytes: () => process.availableMemory(),
    });
    this.#table = new SessionTable(parts.journal, (id) => this.#admission.position(id));
    this.#startedAt = parts.clock.now().getTime();
  }

  /** Takes up what an earlier service left, and is then open for new sessions. */
  static async start(parts: SupervisorParts): Promise<Supervisor> {
    const supervisor = new Supervisor(parts);
    await recoverSessions(parts, {
      resume: (resumed, lease, stepsDone) => supervisor.#resume(resumed, lease, stepsDone),
      queue: (request, record) => supervisor.#queue(supervisor.#enlist(request, record), request),
    });
    supervisor.#pool.start();
    return supervisor;
  }

  async createLive(request: LiveRequest, signal: AbortSignal): Promise<SessionRecord> {
    this.#assertOpen();
    assertSupported(request, this.#parts.driver.offers);
    const { config, clock } = this.#parts;
    const deadlineMs = config.createTimeout * 1000;
    const startedAt = performance.now();
    const place = await this.#admission.enter({ signal, deadlineMs });
    const { id, open } = this.#pool.prepare(request);
    const session = this.#enlist(request, this.#accepted(id, request));
    const abandon = () => void session.abandon();
    signal.addEventListener('abort', abandon, { once: true });
    try {
      const left = Math.max(1_000, deadlineMs - (performance.now() - startedAt));
      const accepted = { mode: 'live', prompt: null, flowFiles: [] };
      const event = newEvent(session.record.id, { type: 'SessionAccepted', data: accepted }, clock.now());
      if (signal.aborted) abandon();
      await session.begin(place, open, left, [event]);
      return session.record;
    } catch (error) {
      this.#table.drop(session.record.id);
      throw error;
    } finally {
      signal.removeEventListener('abort', abandon);
    }
  }

  async submit(request: AutoRequest): Promise<SessionRecord> {
    this.#assertOpen();
    assertSupported(request, this.#parts.driver.offers);
    await checkTask(request, this.#parts.config);
    this.#admission.assertQueueHasRoom();
    const session = this.#enlist(request, this.#accepted(newSessionId(), request));
    const { id, prompt, flowFiles } = session.record;
    const accepted = newEvent(
      id,
      { type: 'SessionAccepted', data: { mode: 'auto', prompt, flowFiles } },
      this.#parts.clock.now(),
    );
    try {
      await this.#parts.hub.write({ records: [session.stored], events: [accepted] });
    } catch (error) {
      this.#table.drop(id);
      throw error;
    }
    this.#queue(session, request);
    return this.#table.shown(session.record);
  }

  async waitForEnd(
    id: string,
    bounds: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<SessionRecord> {
    const sessionId = parseId(id);
    const { hub, clock } = this.#parts;
    const waiting = new AbortController();
    const stop = () => waiting.abort();
    const cancelTimer = clock.after(bounds.timeoutMs, stop);
    bounds.signal.addEventListener('abort', stop, { once: true });
    this.#drained.signal.addEventListener('abort', stop, { once: true });
    if (bounds.signal.aborted || this.#drained.signal.aborted) stop();
    try {
      if (!isEnded((await this.get(sessionId)).status)) {
        const selection = { sessionId, after: 0, signal: waiting.signal };
        for await (const event of hub.stream(selection, () => this.#table.living(sessionId) !== undefined)) {
          if (event.type === 'SessionEnded') break;
        }
      }
      return await this.get(sessionId);
    } finally {
      cancelTimer();
      bounds.signal.removeEventListener('abort', stop);
      this.#drained.signal.removeEventListener('abort', stop);
    }
  }

  list(query: ListQuery): Promise<readonly SessionRecord[]> {
    return this.#table.list(query);
  }

  get(id: string): Promise<SessionRecord> {
    return this.#table.get(id);
  }

  async remove(id: string): Promise<void> {
    const record = await this.get(id);
    const living = this.#table.living(record.id);
    if (living !== undefined && !isEnded(record.status)) {
      this.#admission.leaveQueue(record.id);
      await living.end(stoppedEnd('deleted'), 'cut');
      return;
    }
    await living?.gone();
    await this.#parts.journal.remove(record.id);
    await this.#parts.artifacts.remove(record.id);
  }

  async runScript(id: string, js: string, signal: AbortSignal): Promise<string> {
    const sessionId = parseId(id);
    const living = this.#table.living(sessionId);
    if (living !== undefined) return living.runScript(js, signal);
    const record = await this.get(id);
    throw new TroupeError('SESSION_ENDED', `The session ended ${record.endedAt ?? ''} (${record.status})`, {
      status: record.status,
      endReason: record.endReason,
    });
  }

  async archive(id: string): Promise<Readable> {
    const record = await this.get(id);
    // What a session that just ended still has is on its way to its folder.
    if (isEnded(record.status)) await this.#table.living(record.id)?.gone();
    return this.#parts.artifacts.archive(record, this.#table.living(record.id)?.endpoint ?? null);
  }

  async files(id: string): Promise<readonly SessionFile[]> {
    return listFiles(this.#fileDirs((await this.get(id)).id));
  }

  async readFile(id: string, name: string): Promise<{ readonly bytes: number; readonly stream: Readable }> {
    return openFile(this.#fileDirs((await this.get(id)).id), name);
  }

  async writeFile(id: string, name: string, content: Readable): Promise<SessionFile> {
    const record = await this.get(id);
    const dirs = this.#table.living(record.id)?.endpoint;
    if (!dirs && !isEnded(record.status)) throw new TroupeError('SESSION_BUSY', 'The session has no browser yet');
    if (!dirs) throw new TroupeError('SESSION_ENDED', 'The session has no browser that could use a file');
    return storeUpload(dirs.uploadsDir, name, content);
  }

  async *events(selection: {
    readonly id?: string;
    readonly after: number;
    readonly signal: AbortSignal;
  }): AsyncGenerator<JournalEvent, void> {
    const sessionId = selection.id === undefined ? undefined : (await this.get(selection.id)).id;
    const { after, signal } = selection;
    yield* this.#parts.hub.stream(
      { sessionId, after, signal },
      () => sessionId !== undefined && this.#table.living(sessionId) !== undefined,
    );
  }

  lastSeq(): number {
    return this.#parts.hub.lastSeq();
  }

  models(): readonly ModelInfo[] {
    return this.#parts.config.models.map((model, index) => ({
      id: model.id,
      default: index === 0,
      ready: isCallable(model),
      apiKeyEnv: model.apiKeyEnv,
    }));
  }

  health(): Health {
    const { config, driver, version, clock } = this.#parts;
    return {
      status: this.#stopping ? 'stopping' : 'ok',
      version,
      driver: driver.name,
      uptimeSeconds: Math.round((clock.now().getTime() - this.#startedAt) / 1000),
      capacity: {
        max: config.maxSessions,
        running: this.#admission.running,
        queued: this.#admission.queued,
        warm: this.#pool.ready,
      },
    };
  }

  /**
   * Ends the running sessions and gives everything back. Jobs in their flows have `drainMs` to end by themselves; queued
   * jobs stay on disk for the next start. Idempotent.
   */
  async stop(drainMs: number): Promise<void> {
    this.#stopping = true;
    this.#admission.close();
    const held = this.#table.allLiving().filter(({ record }) => this.#admission.position(record.id) === null);
    await Promise.allSettled([this.#pool.close(), ...held.map((session) => this.#drain(session, drainMs))]);
    // Whoever waits for a job that stays queued waits in vain.
    this.#drained.abort();
    await Promise.all(this.#leaving);
  }

  /** Ends a drain that is under way: jobs that still run are cut. */
  hurry(): void {
    this.#drainOver.abort();
  }

  async #drain(session: LivingSession, drainMs: number): Promise<void> {
    if (session.record.mode === 'live') {
      await session.end(stoppedEnd('shutdown'), 'cut');
      return;
    }
    // One that has not begun stays on disk as it is.
    if (session.record.status === 'queued') return session.abandon();
    const bounds = { timeoutMs: drainMs, signal: this.#drainOver.signal };
    const record = await this.waitForEnd(session.record.id, bounds);
    if (!isEnded(record.status)) await session.end(interruptedEnd('auto'), 'whole');
  }

  #accepted(id: SessionId, request: LiveRequest | AutoRequest): SessionRecord {
    const { maxIterations, publicUrl, models } = this.#parts.config;
    const defaults = { maxIterations, publicUrl, model: models[0]?.id ?? null, now: this.#parts.clock.now() };
    return acceptedRecord(id, request, defaults);
  }

  #enlist(request: LiveRequest | AutoRequest, record: SessionRecord): LivingSession {
    const session = new LivingSession(this.#parts, request, record, () => this.#sessionEnded(session));
    this.#table.add(session);
    return session;
  }

  async #resume({ request, record, phase }: Resumed, lease: BrowserLease, stepsDone: number): Promise<void> {
    const session = this.#enlist(request, record);
    try {
      await session.resume(this.#admission.occupy(), lease, stepsDone);
    } catch (error) {
      this.#table.drop(record.id);
      throw error;
    }
    if (request.mode === 'auto' && phase !== null) this.#keep(this.#workOn(session, request, phase));
  }

  #queue(session: LivingSession, request: AutoRequest): void {
    this.#admission.queue(session.record.id, (place) => this.#keep(this.#work(session, request, place)));
  }

  /** A stop waits for it. */
  #keep(work: Promise<void>): void {
    const kept = work.finally(() => this.#leaving.delete(kept));
    this.#leaving.add(kept);
  }

  /** A job from its place to its artifacts. Never rejects. */
  async #work(session: LivingSession, request: AutoRequest, place: Place): Promise<void> {
    try {
      const open = this.#pool.cold(session.record.id, session.request);
      await session.begin(place, open, this.#parts.config.createTimeout * 1000);
      await this.#workOn(session, request, { kind: 'flows' });
    } catch (error) {
      if (this.#stopping && session.record.status === 'queued') return;
      await session.end(lostEnd(error), 'whole');
    }
  }

  #workOn(session: LivingSession, request: AutoRequest, phase: TaskPhase): Promise<void> {
    return session.work(request, phase, () => journaledEvents(this.#parts.journal, session.record.id));
  }

  /** The end is on disk; what is left is to give back what was held and to write what people will read. */
  #sessionEnded(session: LivingSession): void {
    const { id } = session.record;
    const leaving = this.#leave(session).finally(() => {
      this.#leaving.delete(leaving);
      this.#table.drop(id);
      this.#parts.hub.sessionGone(id);
    });
    this.#leaving.add(leaving);
  }

  async #leave(session: LivingSession): Promise<void> {
    try {
      await session.gone();
      await this.#parts.artifacts.write(session.record);
    } catch (error) {
      this.#parts.log(`session ${session.record.id}: clean-up failed: ${String(error)}`);
    }
  }

  #fileDirs(id: SessionId): FileDirs {
    const kept = join(this.#parts.config.sessionsDir, id, 'downloads');
    return this.#table.living(id)?.endpoint ?? { downloadsDir: kept, uploadsDir: null };
  }

  #assertOpen(): void {
    if (this.#stopping) throw new TroupeError('UNAVAILABLE', 'The service is stopping');
  }
}
