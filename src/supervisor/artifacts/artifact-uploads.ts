import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArtifactStore } from '../../artifact-store/artifact-store.js';
import type { Clock } from '../../base/clock.js';
import { boundedWait, Wakeups } from '../../base/deadline.js';
import { ifMissing, sentenceOf } from '../../base/system-fault.js';
import type { Journal } from '../../journal/journal.js';
import { TroupeError } from '../../protocol/errors.js';
import { isEnded, SessionId, type SessionRecord } from '../../protocol/session.js';
import type { FolderHolds } from './folder-holds.js';
import { SentFiles } from './sent-files.js';
import { UploadPace } from './upload-pace.js';

/** Sessions whose files are sent at once. */
const SESSIONS_AT_ONCE = 4;
/** How often the files of running sessions are looked at. */
const LOOK_EVERY_MS = 5_000;
const GONE = '.gone-';

export interface UploadParts {
  readonly store: ArtifactStore;
  readonly journal: Pick<Journal, 'get' | 'amend'>;
  readonly holds: FolderHolds;
  readonly clock: Clock;
  readonly sessionsDir: string;
  readonly log: (line: string, about?: { readonly session: string }) => void;
  /** Creates the reports of an ended session, unless they are there. */
  produce(record: SessionRecord): Promise<void>;
}

/**
 * Moves the artifacts of ended sessions from their folders to the store, and sends pictures of running ones ahead. The
 * folder of an ended session is what is still to be done: it is removed when all of it is in the store, so that nothing is
 * forgotten, however the service ends.
 */
export class ArtifactUploads {
  readonly #parts: UploadParts;
  readonly #waiting = new Map<SessionId, UploadPace>();
  readonly #active = new Map<SessionId, { readonly over: AbortController; readonly done: Promise<void> }>();
  readonly #sent = new Map<SessionId, SentFiles>();
  /** Of the store as a whole: in an outage one session finds out for all. */
  readonly #pace: UploadPace;
  readonly #changed = new Wakeups();
  readonly #stopping = new AbortController();
  #cancelTimer: () => void = () => undefined;
  #cancelLook: () => void = () => undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(parts: UploadParts) {
    this.#parts = parts;
    this.#pace = new UploadPace(parts.clock);
  }

  /** Sessions whose artifacts are not in the store yet. */
  get pending(): number {
    return this.#waiting.size + this.#active.size;
  }

  /** Continues what earlier runs left, and follows running sessions. Rejects if the folder cannot be read. */
  async start(running: () => Iterable<SessionId>): Promise<void> {
    const { sessionsDir, journal } = this.#parts;
    for (const name of (await readdir(sessionsDir).catch(ifMissing)) ?? []) {
      if (name.startsWith(GONE)) await rm(join(sessionsDir, name), { recursive: true, force: true });
      const id = SessionId.safeParse(name);
      if (!id.success) continue;
      const stored = await journal.get(id.data);
      if (stored !== null && isEnded(stored.record.status)) this.add(id.data);
    }
    this.#lookLater(running);
  }

  /** The session has ended, and has a folder. */
  add(id: SessionId): void {
    if (this.#stopping.signal.aborted || this.#waiting.has(id) || this.#active.has(id)) return;
    this.#waiting.set(id, new UploadPace(this.#parts.clock));
    this.#next();
  }

  /** Stops work on a session: its artifacts are about to be removed. */
  async forget(id: SessionId): Promise<void> {
    this.#waiting.delete(id);
    const active = this.#active.get(id);
    active?.over.abort();
    await active?.done;
    await this.#looking;
    this.#waiting.delete(id);
    this.#sent.delete(id);
  }

  /** Waits until everything is in the store; not while the store fails, and `ms` at most. */
  async settled(ms: number): Promise<void> {
    const { clock } = this.#parts;
    const late = new AbortController();
    const cancel = clock.after(ms, () => late.abort());
    while (this.pending > 0 && !this.#pace.isFailing && !late.signal.aborted) await this.#changed.next(late.signal);
    cancel();
  }

  /** What is not in the store yet stays in its folder for the next start. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelTimer();
    this.#cancelLook();
    for (const { over } of this.#active.values()) over.abort();
    await Promise.all([this.#looking, ...[...this.#active.values()].map(({ done }) => done)]);
    const left = this.#waiting.size;
    if (left > 0)
      this.#parts.log(
        `the artifacts of ${left} sessions are not in the store yet: the next start on this home uploads them`,
      );
  }

  #next(): void {
    this.#cancelTimer();
    this.#changed.wake();
    if (this.#stopping.signal.aborted) return;
    let waitMs = Number.POSITIVE_INFINITY;
    for (const [id, pace] of this.#waiting) {
      if (this.#active.size >= (this.#pace.isFailing ? 1 : SESSIONS_AT_ONCE)) return;
      if (this.#active.has(id)) continue;
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
        () => this.#succeeded(id),
        (error: unknown) => {
          if (!over.signal.aborted || this.#stopping.signal.aborted) this.#failed(id, pace, error);
        },
      )
      .finally(() => {
        this.#active.delete(id);
        this.#next();
      });
    this.#active.set(id, { over, done });
  }

  #succeeded(id: SessionId): void {
    this.#sent.delete(id);
    if (this.#pace.succeeded()) this.#parts.log('artifacts are uploaded again');
  }

  #failed(id: SessionId, pace: UploadPace, error: unknown): void {
    this.#waiting.set(id, pace);
    if (this.#stopping.signal.aborted) return;
    const isStore = error instanceof TroupeError && error.code === 'UNAVAILABLE';
    const news = (isStore ? this.#pace : pace).failed();
    if (news === null) return;
    const again =
      news === 'first'
        ? 'it is tried again'
        : `${this.#waiting.size} sessions wait, and it is tried again every five minutes`;
    this.#parts.log(`artifacts are not uploaded: ${sentenceOf(error)}; ${again}`, { session: id });
  }

  async #upload(id: SessionId, signal: AbortSignal): Promise<void> {
    const { store, journal, holds, produce } = this.#parts;
    const record = (await journal.get(id))?.record;
    if (record === undefined) {
      // Removed by another node, while this one still sent files.
      await store.remove(id);
      return this.#removeFolder(id, false, signal);
    }
    if (!isEnded(record.status)) return;
    if (!holds.isClosed(id)) {
      await produce(record);
      await this.#files(id).send(this.#dir(id), { early: false, signal });
      await journal.amend({ ...record, artifacts: 'stored' });
      if ((await journal.get(id)) === null) await store.remove(id);
    }
    await this.#removeFolder(id, true, signal);
  }

  async #removeFolder(id: SessionId, isKnown: boolean, signal: AbortSignal): Promise<void> {
    const { holds, sessionsDir } = this.#parts;
    // The next start removes it otherwise.
    if (!holds.isClosed(id) && !(await holds.close(id, signal))) return;
    // What a reader has added, such as an approved baseline.
    if (isKnown) await this.#files(id).send(this.#dir(id), { early: false, signal });
    const gone = join(sessionsDir, `${GONE}${id}`);
    await rm(gone, { recursive: true, force: true });
    await rename(this.#dir(id), gone).catch(ifMissing);
    await rm(gone, { recursive: true, force: true });
  }

  #files(id: SessionId): SentFiles {
    const files = this.#sent.get(id) ?? new SentFiles(this.#parts.store, id);
    this.#sent.set(id, files);
    return files;
  }

  #lookLater(running: () => Iterable<SessionId>): void {
    if (this.#stopping.signal.aborted) return;
    this.#cancelLook = this.#parts.clock.after(LOOK_EVERY_MS, () => {
      this.#looking = this.#look([...running()]).finally(() => this.#lookLater(running));
    });
  }

  /** Never rejects: what is not sent now is sent at the end. */
  async #look(running: readonly SessionId[]): Promise<void> {
    const { signal } = this.#stopping;
    const known = new Set(running);
    for (const id of this.#sent.keys())
      if (!known.has(id) && !this.#waiting.has(id) && !this.#active.has(id)) this.#sent.delete(id);
    for (const id of running) {
      if (signal.aborted || this.#pace.waitMs > 0) return;
      try {
        await this.#files(id).send(this.#dir(id), { early: true, signal });
      } catch (error) {
        if (!signal.aborted && error instanceof TroupeError && this.#pace.failed() === 'first')
          this.#parts.log(`artifacts are not uploaded: ${sentenceOf(error)}; it is tried again`, { session: id });
      }
    }
  }

  #dir(id: SessionId): string {
    return join(this.#parts.sessionsDir, id);
  }
}

/** Waits until a session's artifacts are in the store. @throws UNAVAILABLE after `ms` */
export async function untilStored(
  { journal, clock }: Pick<UploadParts, 'clock'> & { readonly journal: Pick<Journal, 'get'> },
  { id, node }: Pick<SessionRecord, 'id' | 'node'>,
  ms: number,
): Promise<void> {
  const endsAt = clock.now().getTime() + ms;
  for (;;) {
    if ((await journal.get(id))?.record.artifacts === 'stored') return;
    if (clock.now().getTime() >= endsAt) break;
    await boundedWait<void>({}, (resolve) => clock.after(ASK_EVERY_MS, resolve));
  }
  throw new TroupeError(
    'UNAVAILABLE',
    `The artifacts of session ${id} are not in the store yet: the node ${node} still uploads them; try again later`,
  );
}

const ASK_EVERY_MS = 200;
