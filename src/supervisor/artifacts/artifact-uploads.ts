import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArtifactStore } from '../../artifact-store/artifact-store.js';
import type { Clock } from '../../base/clock.js';
import { settlesWithin, Wakeups } from '../../base/deadline.js';
import { asAbsent, ifMissing, sentenceOf } from '../../base/system-fault.js';
import type { Journal } from '../../journal/journal.js';
import { TroupeError } from '../../protocol/errors.js';
import { isEnded, SessionId, type SessionRecord } from '../../protocol/session.js';
import { SentFiles } from './sent-files.js';
import { UploadPace } from './upload-pace.js';

/** Sessions whose files are sent at once. */
const SESSIONS_AT_ONCE = 2;
/** How long a stop waits for requests to the store that are under way. */
const STOP_MS = 5_000;
/** Ids of removed sessions that are remembered; cleared when it is full. */
const MAX_REMOVED = 10_000;
/** Begins the names of folders that are being removed; what a kill leaves of them is removed at the next start. */
export const REMOVING = '.removing-';

export interface UploadParts {
  readonly store: ArtifactStore;
  readonly journal: Pick<Journal, 'get' | 'amend'>;
  readonly clock: Clock;
  readonly sessionsDir: string;
  /** This node, if several share the database. */
  readonly node: string | undefined;
  readonly log: (line: string, about?: { readonly session: string }) => void;
  /** Whether the files of a session are in this home. */
  isOwn(record: SessionRecord): Promise<boolean>;
  /** Creates the reports of an ended session, unless they are there. */
  produce(record: SessionRecord): Promise<void>;
}

/**
 * Moves the artifacts of ended sessions from their folders to the store. A folder of an ended session is what is still to
 * be done: it is removed when all of it is in the store and the record says so, so nothing is forgotten, however the
 * service ends.
 */
export class ArtifactUploads {
  readonly #parts: UploadParts;
  readonly #waiting = new Map<SessionId, UploadPace>();
  readonly #active = new Map<SessionId, { readonly over: AbortController; readonly done: Promise<void> }>();
  /** What was sent of sessions whose folders are still there. */
  readonly #sent = new Map<SessionId, SentFiles>();
  /** How many readers use the folder of a session. */
  readonly #held = new Map<SessionId, number>();
  /** Folders that nobody can hold any more. */
  readonly #removing = new Set<SessionId>();
  readonly #removed = new Set<SessionId>();
  /** Of the store as a whole: in an outage one session finds out for all. */
  readonly #pace: UploadPace;
  readonly #changed = new Wakeups();
  readonly #stopping = new AbortController();
  #cancelTimer: () => void = () => undefined;
  #scanning: Promise<void> | null = null;

  constructor(parts: UploadParts) {
    this.#parts = parts;
    this.#pace = new UploadPace(parts.clock);
  }

  /** Continues with the folders that earlier runs left. */
  start(): void {
    this.#scanning ??= this.#scan().catch((error: unknown) =>
      this.#parts.log(`artifacts of earlier runs are not uploaded before the next start: ${sentenceOf(error)}`),
    );
  }

  /** To be called when a session has ended and nothing writes to its folder any more. */
  add(id: SessionId): void {
    if (this.#stopping.signal.aborted || this.#removed.has(id) || this.#waiting.has(id) || this.#active.has(id)) return;
    this.#waiting.set(id, new UploadPace(this.#parts.clock));
    this.#next();
  }

  /**
   * Keeps the folder of a session from being removed.
   * @returns the function that ends that, once; null if the store has everything and the folder is being removed
   */
  hold(id: SessionId): (() => void) | null {
    if (this.#removing.has(id)) return null;
    this.#held.set(id, (this.#held.get(id) ?? 0) + 1);
    let over = false;
    return () => {
      if (over) return;
      over = true;
      const left = (this.#held.get(id) ?? 1) - 1;
      if (left > 0) {
        this.#held.set(id, left);
        return;
      }
      this.#held.delete(id);
      this.#continueIfFree(id);
    };
  }

  /** Removes a session's artifacts from the store. @throws UNAVAILABLE; then its upload goes on */
  async remove(id: SessionId): Promise<void> {
    if (this.#removed.size >= MAX_REMOVED) this.#removed.clear();
    this.#removed.add(id);
    this.#waiting.delete(id);
    const active = this.#active.get(id);
    active?.over.abort();
    await active?.done;
    try {
      if (await this.#mayBeStored(id)) await this.#parts.store.remove(id);
      this.#sent.delete(id);
    } catch (error) {
      this.#removed.delete(id);
      this.add(id);
      throw error;
    }
  }

  /** Waits until everything is in the store, except for what fails, and `ms` at most. */
  async settled(ms: number): Promise<void> {
    if (ms === 0) return;
    const late = new AbortController();
    const cancel = this.#parts.clock.after(ms, () => late.abort());
    const isBusy = () => this.#active.size > 0 || [...this.#waiting.values()].some(({ isFailing }) => !isFailing);
    while (isBusy() && !this.#pace.isFailing && !late.signal.aborted) await this.#changed.next(late.signal);
    cancel();
  }

  /** What is not in the store yet stays in its folder for the next start. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelTimer();
    const left = this.#waiting.size + this.#active.size;
    for (const { over } of this.#active.values()) over.abort();
    await settlesWithin(Promise.all([this.#scanning, ...[...this.#active.values()].map(({ done }) => done)]), STOP_MS);
    if (left > 0) this.#parts.log(`${countOf(left)} not in the store yet; the next start on this home uploads them`);
  }

  async #scan(): Promise<void> {
    const { sessionsDir, journal, isOwn } = this.#parts;
    for (const name of (await readdir(sessionsDir).catch(ifMissing)) ?? []) {
      if (this.#stopping.signal.aborted) return;
      if (name.startsWith(REMOVING)) await rm(join(sessionsDir, name), { recursive: true, force: true });
      const id = SessionId.safeParse(name);
      const stored = id.success ? await journal.get(id.data) : null;
      if (stored === null || !isEnded(stored.record.status)) continue;
      // The files of another node's session are there; what is here was made from the journal.
      if (await isOwn(stored.record)) this.add(stored.record.id);
    }
  }

  #next(): void {
    this.#cancelTimer();
    this.#changed.wake();
    if (this.#stopping.signal.aborted) return;
    let waitMs = Number.POSITIVE_INFINITY;
    for (const [id, pace] of this.#waiting) {
      if (this.#active.size >= (this.#pace.isFailing ? 1 : SESSIONS_AT_ONCE)) return;
      const ms = Math.max(this.#pace.waitMs, pace.waitMs);
      if (ms === 0) this.#begin(id, pace);
      else waitMs = Math.min(waitMs, ms);
    }
    if (waitMs < Number.POSITIVE_INFINITY) this.#cancelTimer = this.#parts.clock.after(waitMs, () => this.#next());
  }

  #begin(id: SessionId, pace: UploadPace): void {
    const over = new AbortController();
    this.#waiting.delete(id);
    const done = this.#upload(id, over.signal)
      .then(
        () => {
          if (this.#pace.succeeded()) this.#parts.log('artifacts are uploaded again');
        },
        (error: unknown) => {
          if (!over.signal.aborted) this.#failed(id, pace, error);
        },
      )
      .finally(() => {
        this.#active.delete(id);
        this.#continueIfFree(id);
        this.#next();
      });
    this.#active.set(id, { over, done });
  }

  #failed(id: SessionId, pace: UploadPace, error: unknown): void {
    this.#waiting.set(id, pace);
    const isStore = error instanceof TroupeError && error.code === 'UNAVAILABLE';
    // A session that the store always refuses must not be the one that is tried for all.
    const ofSession = pace.failed();
    const news = isStore ? this.#pace.failed() : ofSession;
    if (news === null) return;
    const again =
      news === 'first'
        ? 'it is tried again'
        : `${countOf(this.#waiting.size)} still in the home, and it is tried again every five minutes`;
    this.#parts.log(`artifacts are not uploaded: ${sentenceOf(error)}; ${again}`, { session: id });
  }

  async #upload(id: SessionId, signal: AbortSignal): Promise<void> {
    const { store, journal, sessionsDir, node, produce } = this.#parts;
    const record = (await journal.get(id))?.record;
    if (record === undefined || !isEnded(record.status)) {
      // Another node removed it meanwhile.
      if (record === undefined && this.#sent.has(id)) await store.remove(id);
      this.#sent.delete(id);
      return;
    }
    const dir = join(sessionsDir, id);
    const files = this.#sent.get(id) ?? new SentFiles(store, id);
    this.#sent.set(id, files);
    const isStored = record.artifacts === 'stored';
    // Another node may have stored what it could make from the journal: with the files of this home there is more.
    if (!isStored || (await lstat(dir).catch(asAbsent)) !== null) await produce(record);
    if (!isStored) {
      await files.send(dir, signal);
      await journal.amend({ ...record, artifacts: 'stored' });
      // As above: at the next try, the record is gone.
      if (node !== undefined && (await journal.get(id)) === null) throw new Error('the session was removed');
    }
    if (this.#held.has(id)) return;
    this.#removing.add(id);
    try {
      // What was added since, such as a baseline that a reader approved; or all, if an earlier run was killed here.
      await files.send(dir, signal);
      signal.throwIfAborted();
      await rm(this.#removal(id), { recursive: true, force: true });
      await rename(dir, this.#removal(id)).catch(ifMissing);
    } finally {
      this.#removing.delete(id);
    }
    this.#sent.delete(id);
    await rm(this.#removal(id), { recursive: true, force: true });
  }

  /** An upload does not wait for those who read the folder. */
  #continueIfFree(id: SessionId): void {
    if (this.#sent.has(id) && !this.#held.has(id)) this.add(id);
  }

  /** A session that has never started has nothing in the store, unless its reports were asked for. */
  async #mayBeStored(id: SessionId): Promise<boolean> {
    const { journal, sessionsDir } = this.#parts;
    const stored = await journal.get(id);
    if (stored === null || stored.record.artifacts !== undefined) return true;
    return (await lstat(join(sessionsDir, id)).catch(asAbsent)) !== null;
  }

  #removal(id: SessionId): string {
    return join(this.#parts.sessionsDir, `${REMOVING}${id}`);
  }
}

function countOf(sessions: number): string {
  return sessions === 1 ? 'the artifacts of 1 session are' : `the artifacts of ${sessions} sessions are`;
}
