import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ArtifactStore } from '../../artifact-store/artifact-store.js';
import { storeMissing } from '../../artifact-store/open-store.js';
import type { Clock } from '../../base/clock.js';
import { asAbsent, sentenceOf } from '../../base/system-fault.js';
import { contentOf, hasOneName, openOwnFile, openRegularFile } from '../../files/regular-file.js';
import type { Journal } from '../../journal/journal.js';
import type { SessionArtifact } from '../../protocol/answers.js';
import { TroupeError } from '../../protocol/errors.js';
import type { SessionId, SessionRecord } from '../../protocol/session.js';
import { keepsTrace } from '../../protocol/trace/keeps-trace.js';
import { noTrace, TRACE } from '../../protocol/trace/trace.js';
import { type ArchiveSource, archiveEntries, MISSING, openArchive, type StoredSource } from '../../report/archive.js';
import type { ReportPool } from '../../report/report-pool.js';
import { journaledEvents } from '../events/index.js';
import type { OpenArtifact, OpenFile } from '../ports/artifacts.js';
import { ArtifactUploads, REMOVING } from './artifact-uploads.js';
import { type FileDirs, openArtifact } from './session-files.js';
import { StoredArtifacts } from './stored-artifacts.js';

/** A store for the artifacts of ended sessions, and what uploading to it needs. */
interface StoreParts {
  readonly store: ArtifactStore;
  readonly clock: Clock;
  readonly log: (line: string, about?: { readonly session: string }) => void;
}

interface KeeperOptions {
  /** The store, if artifacts do not stay in the home. */
  readonly upload?: StoreParts | undefined;
  /** This node, if several share the database. */
  readonly node?: string | undefined;
}

/** Where a session's artifacts are. `release` must be called when they have been read; until then a folder stays. */
type Held =
  | { readonly kind: 'folder'; readonly dir: string; release(): void }
  | { readonly kind: 'store'; readonly stored: StoredArtifacts; release(): void };

/** One way to read artifacts from a folder, and one from the store. */
interface Reading<T> {
  folder(dir: string): Promise<T>;
  store(stored: StoredArtifacts): Promise<T>;
}

/**
 * Creates a session's artifacts from the journal: transcript, report, HTML, JUnit. They can be created again at any
 * time, so nothing is lost if the service is killed before it wrote them. If there is a store, they are moved there after
 * the end, and read there.
 */
export class ArtifactKeeper {
  readonly #journal: Journal;
  readonly #pool: ReportPool;
  readonly #sessionsDir: string;
  readonly #parts: StoreParts | undefined;
  readonly #node: string | undefined;
  readonly #uploads: ArtifactUploads | undefined;
  /** Writes in progress by session: later callers wait for them. */
  readonly #writing = new Map<SessionId, Promise<void>>();
  /** Sessions whose final artifacts are known to be on disk. Cleared when it is full. */
  readonly #complete = new Set<SessionId>();
  #isLiving: (id: SessionId) => boolean = () => true;

  constructor(journal: Journal, pool: ReportPool, sessionsDir: string, { upload, node }: KeeperOptions = {}) {
    this.#journal = journal;
    this.#pool = pool;
    this.#sessionsDir = sessionsDir;
    this.#parts = upload;
    this.#node = node;
    const produce = (record: SessionRecord) => this.ensure(record);
    const isOwn = (record: SessionRecord) => this.isOwn(record);
    this.#uploads = upload && new ArtifactUploads({ ...upload, journal, sessionsDir, node, produce, isOwn });
  }

  /**
   * Continues uploads that earlier runs left.
   * @param isLiving whether something may still write to a session's folder
   */
  start(isLiving: (id: SessionId) => boolean): void {
    if (this.#parts === undefined) return;
    const { store, log } = this.#parts;
    this.#isLiving = isLiving;
    this.#uploads?.start();
    store.check().catch((error: unknown) => log(`artifacts cannot be stored now: ${sentenceOf(error)}`));
  }

  /** Waits up to `ms` until everything is in the store, if it is not failing. The rest is for the next start. Idempotent. */
  async close(ms: number): Promise<void> {
    await this.#uploads?.settled(ms);
    await this.#uploads?.stop();
  }

  /** Writes the artifacts of the journal's current state. */
  write(record: SessionRecord): Promise<void> {
    const { id } = record;
    const before = this.#writing.get(id) ?? Promise.resolve();
    const writing = before.catch(() => undefined).then(() => this.#write(record));
    this.#writing.set(id, writing);
    return writing.finally(() => {
      if (this.#writing.get(id) === writing) this.#writing.delete(id);
    });
  }

  /** Writes the artifacts of a session that has ended and writes nothing more, and passes them on to the store. */
  async finish(record: SessionRecord): Promise<void> {
    try {
      await this.write(record);
    } finally {
      this.#uploads?.add(record.id);
    }
  }

  /** Passes on to the store what this home still has of an ended session that this node ran. */
  async uploadLeft(record: SessionRecord): Promise<void> {
    if (record.endedAt === null || this.#isLiving(record.id) || !(await this.isOwn(record))) return;
    this.#uploads?.add(record.id);
  }

  /** The zip of a session; creates an ended session's artifacts if they are missing. */
  async archive(record: SessionRecord, files: FileDirs | null): Promise<Readable> {
    const { source, release } = await this.source(record, files);
    const zip = openArchive([source]);
    zip.once('close', release);
    return zip;
  }

  /**
   * What the zip of a session is made of; creates an ended session's artifacts if they are missing. `release` must be
   * called when it was read.
   * @param folder its folder in the zip; the root if omitted
   */
  async source(
    record: SessionRecord,
    files: FileDirs | null,
    folder?: string,
  ): Promise<{ readonly source: ArchiveSource | StoredSource; release(): void }> {
    const held = await this.#hold(record);
    const { release } = held;
    const place = folder === undefined ? {} : { folder };
    return held.kind === 'store'
      ? { source: { ...held.stored.source(), ...place }, release }
      : { source: { dir: held.dir, downloadsDir: files?.downloadsDir, ...place }, release };
  }

  /** The files of {@link archive}. A running session's downloads come and go: one that is gone is left out. */
  artifacts(record: SessionRecord, files: FileDirs | null): Promise<readonly SessionArtifact[]> {
    return this.#read(record, {
      store: (stored) => stored.list(),
      folder: async (dir) => {
        const found = new Map<string, SessionArtifact>();
        for await (const entry of archiveEntries({ dir, downloadsDir: files?.downloadsDir })) {
          const stats = found.has(entry.name) ? null : await lstat(entry.path).catch(asAbsent);
          if (stats === null || !stats.isFile() || (entry.untrusted === true && !hasOneName(stats))) continue;
          found.set(entry.name, { path: entry.name, bytes: stats.size, modifiedAt: stats.mtime.toISOString() });
        }
        return [...found.values()];
      },
    });
  }

  /** @throws NOT_FOUND for a path that the zip does not contain */
  artifact(record: SessionRecord, files: FileDirs | null, path: string): Promise<OpenArtifact> {
    return this.#read(record, {
      store: (stored) => stored.artifact(path),
      folder: async (dir) => {
        for await (const entry of archiveEntries({ dir, downloadsDir: files?.downloadsDir })) {
          if (entry.name !== path) continue;
          const opened = await (entry.untrusted ? openOwnFile(entry.path) : openRegularFile(entry.path));
          if (opened === null) continue;
          return {
            bytes: opened.stats.size,
            open: (range) => contentOf(opened, range),
            close: () => opened.file.close(),
          };
        }
        throw new TroupeError('NOT_FOUND', `The session has no artifact '${path.slice(0, 200)}'`);
      },
    });
  }

  report(record: SessionRecord, name: 'report.html' | 'report.json'): Promise<OpenFile> {
    return this.#read(record, {
      store: (stored) => stored.file('', name),
      folder: (dir) => openArtifact(dir, name),
    });
  }

  /** @throws NOT_FOUND if the session has none */
  async trace(record: SessionRecord): Promise<OpenFile> {
    if (!keepsTrace(record)) throw noTrace();
    return this.#read(record, {
      store: (stored) => stored.file('', TRACE),
      folder: (dir) => openArtifact(dir, TRACE),
    });
  }

  screenshot(record: SessionRecord, name: string): Promise<OpenFile> {
    return this.readFiles(record, {
      store: (stored) => stored.file('screenshots/', name),
      folder: (dir) => openArtifact(join(dir, 'screenshots'), name),
    });
  }

  /**
   * A folder with the session's report.json, created if it is missing. `release` must be called when it was read; it
   * removes what was fetched.
   */
  async reportFolder(record: SessionRecord): Promise<{ readonly dir: string; release(): Promise<void> }> {
    const held = await this.#hold(record);
    if (held.kind === 'folder') return { dir: held.dir, release: async () => held.release() };
    const dir = this.#temporary();
    const release = () => rm(dir, { recursive: true, force: true });
    try {
      await mkdir(dir, { mode: 0o700 });
      const { stream } = await held.stored.file('', 'report.json');
      await pipeline(stream, createWriteStream(join(dir, 'report.json'), { mode: 0o600 }));
      return { dir, release };
    } catch (error) {
      await release();
      throw error;
    } finally {
      held.release();
    }
  }

  /** Reads files that a session made; its reports may be missing. What was opened in a folder outlives the folder. */
  async readFiles<T>(record: SessionRecord, from: Reading<T>): Promise<T> {
    return this.#readHeld(await this.#place(record), from);
  }

  /** @throws UNAVAILABLE from the store; then something may be left, and it can be tried again */
  async remove(id: SessionId): Promise<void> {
    await this.#writing.get(id)?.catch(() => undefined);
    await this.#uploads?.remove(id);
    this.#complete.delete(id);
    await rm(this.dir(id), { recursive: true, force: true });
  }

  /** Ensures that the artifacts are up to date; an ended session's are created once. */
  async ensure(record: SessionRecord): Promise<void> {
    await this.#writing.get(record.id)?.catch(() => undefined);
    if (!this.#complete.has(record.id)) await this.write(record);
  }

  /**
   * Adds files to a session's artifacts.
   * @param write gets the folder in which they are to be, under the paths of artifacts
   * @throws UNAVAILABLE from the store
   */
  add<T>(record: SessionRecord, write: (dir: string) => Promise<T>): Promise<T> {
    return this.#read(record, {
      folder: write,
      store: async (stored) => {
        const dir = this.#temporary();
        try {
          const written = await write(dir);
          await stored.addAll(dir);
          return written;
        } finally {
          await rm(dir, { recursive: true, force: true });
        }
      },
    });
  }

  /** The bytes of a session's artifacts in the store. @throws UNAVAILABLE from the store */
  async storedBytes(id: SessionId): Promise<number> {
    const found = (await this.#parts?.store.list(id)) ?? [];
    return found.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /**
   * Whether this node ran the session, so that its folder is here. One that ran before its service became a node belongs to
   * the node that has its folder; in a folder that was made from the journal is a note.
   */
  async isOwn({ id, node, startedAt }: SessionRecord): Promise<boolean> {
    if (this.#node === undefined || node !== undefined) return node === undefined || node === this.#node;
    if (startedAt === null) return true;
    const dir = this.dir(id);
    return (await isThere(dir)) && !(await isThere(join(dir, MISSING)));
  }

  /** The folder of a session's artifacts. */
  dir(id: SessionId): string {
    return join(this.#sessionsDir, id);
  }

  async #read<T>(record: SessionRecord, from: Reading<T>): Promise<T> {
    return this.#readHeld(await this.#hold(record), from);
  }

  async #readHeld<T>(held: Held, from: Reading<T>): Promise<T> {
    try {
      return await (held.kind === 'store' ? from.store(held.stored) : from.folder(held.dir));
    } finally {
      held.release();
    }
  }

  /** The place of the artifacts, with reports. */
  async #hold(record: SessionRecord): Promise<Held> {
    const held = await this.#place(record);
    if (held.kind === 'store') return held;
    try {
      await this.ensure(record);
      // Of a session that was killed without a file, or has never started.
      await this.uploadLeft(record);
      return held;
    } catch (error) {
      held.release();
      throw error;
    }
  }

  /** @throws NOT_FOUND if the session was removed; UNAVAILABLE if its artifacts are in a store that is not configured */
  async #place(record: SessionRecord): Promise<Held> {
    const { id } = record;
    const dir = this.dir(id);
    if (this.#parts === undefined) {
      if (record.artifacts === 'stored' && !(await isThere(dir))) throw storeMissing();
      return { kind: 'folder', dir, release: () => undefined };
    }
    const release = this.#uploads?.hold(id) ?? null;
    try {
      // The record may be of before the end.
      const isRunning = record.endedAt === null && this.#isLiving(id);
      const isHere = isRunning || ((await this.isOwn(record)) && (await isThere(dir)));
      if (release !== null && (isHere || !(await this.#isStored(id)))) return { kind: 'folder', dir, release };
    } catch (error) {
      release?.();
      throw error;
    }
    release?.();
    return { kind: 'store', stored: new StoredArtifacts(this.#parts.store, id), release: () => undefined };
  }

  async #isStored(id: SessionId): Promise<boolean> {
    const stored = await this.#journal.get(id);
    if (stored === null) throw new TroupeError('NOT_FOUND', `There is no session '${id}'`);
    return stored.record.artifacts === 'stored';
  }

  /** A path for what is removed soon, at the latest by the next start. */
  #temporary(): string {
    return join(this.#sessionsDir, `${REMOVING}${randomUUID()}`);
  }

  async #write(record: SessionRecord): Promise<void> {
    // Where the artifacts are is of no use to those who have them.
    const { artifacts: _, ...written } = record;
    const dir = this.dir(record.id);
    if (!(await this.isOwn(record))) {
      await mkdir(dir, { recursive: true });
      await writeFile(join(dir, MISSING), missingText(record), { mode: 0o600 });
    }
    await this.#pool.produce(dir, written, journaledEvents(this.#journal, record.id));
    if (record.endedAt === null) return;
    if (this.#complete.size >= 10_000) this.#complete.clear();
    this.#complete.add(record.id);
  }
}

/** Of artifacts that were made from the journal, because the files are elsewhere. */
function missingText({ node, sessionId }: SessionRecord): string {
  if (node === undefined) {
    return (
      `The session ${sessionId} ran before its service became a node, and its folder is not on this node.\n` +
      'Its pictures, videos, downloads and other files are missing here; the node that has the folder serves them.\n'
    );
  }
  return (
    `The node ${node}, which ran the session ${sessionId}, was not reachable when these artifacts were made.\n` +
    'Its pictures, videos, downloads and other files are on that node, and are missing here until it runs again.\n'
  );
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(asAbsent)) !== null;
}
