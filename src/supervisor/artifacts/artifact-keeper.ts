import { randomUUID } from 'node:crypto';
import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { storeMissing } from '../../artifact-store/open-store.js';
import { asAbsent } from '../../base/system-fault.js';
import { contentOf, hasOneName, openOwnFile, openRegularFile } from '../../files/regular-file.js';
import type { Journal } from '../../journal/journal.js';
import type { SessionArtifact } from '../../protocol/answers.js';
import { TroupeError } from '../../protocol/errors.js';
import { isEnded, type SessionId, type SessionRecord } from '../../protocol/session.js';
import { keepsTrace } from '../../protocol/trace/keeps-trace.js';
import { noTrace, TRACE } from '../../protocol/trace/trace.js';
import { type ArchiveSource, archiveEntries, openArchive, type StoredSource } from '../../report/archive.js';
import type { ReportPool } from '../../report/report-pool.js';
import { journaledEvents } from '../events/index.js';
import type { OpenArtifact, OpenFile } from '../ports/artifacts.js';
import { endedSessionFiles, type FileDirs, openArtifact } from './session-files.js';
import { SharedArtifacts, type SharedArtifactsParts } from './shared-artifacts.js';
import { StoredArtifacts } from './stored-artifacts.js';

/** Where to read a session's artifacts; `release` must be called when they have been read. */
type Held =
  | { readonly kind: 'folder'; readonly dir: string; release(): void }
  | { readonly kind: 'store'; readonly stored: StoredArtifacts; release(): void };

/**
 * Creates a session's artifacts from the journal: transcript, report, HTML, JUnit. They can be created again at any
 * time, so nothing is lost if the service is killed before it wrote them. If there is a store, they are moved there after
 * the end, and read there.
 */
export class ArtifactKeeper {
  readonly #journal: Journal;
  readonly #pool: ReportPool;
  readonly #sessionsDir: string;
  readonly #shared: SharedArtifacts | null;
  /** Writes in progress by session: later callers wait for them. */
  readonly #writing = new Map<SessionId, Promise<void>>();
  /** Sessions whose final artifacts are known to be on disk. Cleared when it is full. */
  readonly #complete = new Set<SessionId>();

  /** @param shared the store, if artifacts do not stay in the home */
  constructor(
    journal: Journal,
    pool: ReportPool,
    sessionsDir: string,
    shared?: Omit<SharedArtifactsParts, 'journal' | 'sessionsDir'>,
  ) {
    this.#journal = journal;
    this.#pool = pool;
    this.#sessionsDir = sessionsDir;
    this.#shared =
      shared === undefined
        ? null
        : new SharedArtifacts({ ...shared, journal, sessionsDir }, (record) => this.ensure(record));
  }

  /** Continues uploads that earlier runs left, and sends pictures of running sessions ahead. */
  async start(running: () => Iterable<SessionId>): Promise<void> {
    await this.#shared?.uploads.start(running);
  }

  /** Waits up to `ms` until everything is in the store, if it is not failing. The rest is for the next start. Idempotent. */
  async close(ms: number): Promise<void> {
    await this.#shared?.uploads.settled(ms);
    await this.#shared?.uploads.stop();
    this.#shared?.store.close();
  }

  /** Sessions whose artifacts are still to be moved to the store; null if there is none. */
  get pending(): number | null {
    return this.#shared?.uploads.pending ?? null;
  }

  /** Writes the artifacts of the journal's current state. */
  write(record: SessionRecord): Promise<void> {
    const { id } = record;
    const before = this.#writing.get(id) ?? Promise.resolve();
    const writing = before.catch(() => undefined).then(() => this.#write(record));
    this.#writing.set(id, writing);
    return writing.finally(() => {
      if (this.#writing.get(id) === writing) this.#writing.delete(id);
      if (isEnded(record.status)) this.#shared?.uploads.add(id);
    });
  }

  /** The zip of a session; creates an ended session's artifacts if they are missing. */
  async archive(record: SessionRecord, files: FileDirs | null): Promise<Readable> {
    const { source, release } = await this.source(record, files);
    const zip = openArchive([source]);
    zip.once('close', release);
    return zip;
  }

  /** What a zip of the session is made of. `release` must be called when it was read. */
  async source(
    record: SessionRecord,
    files: FileDirs | null,
    folder?: string,
  ): Promise<{ readonly source: ArchiveSource | StoredSource; release(): void }> {
    const held = await this.#hold(record);
    const { release } = held;
    if (held.kind === 'store') return { source: held.stored.source(folder), release };
    const place = folder === undefined ? {} : { folder };
    return { source: { dir: held.dir, downloadsDir: files?.downloadsDir, ...place }, release };
  }

  /** The files of {@link archive}. A running session's downloads come and go: one that is gone is left out. */
  async artifacts(record: SessionRecord, files: FileDirs | null): Promise<readonly SessionArtifact[]> {
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
  async artifact(record: SessionRecord, files: FileDirs | null, path: string): Promise<OpenArtifact> {
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

  async report(record: SessionRecord, name: 'report.html' | 'report.json'): Promise<OpenFile> {
    return this.#file(record, '', name);
  }

  /** @throws NOT_FOUND if the session has none */
  async trace(record: SessionRecord): Promise<OpenFile> {
    if (!keepsTrace(record)) throw noTrace();
    return this.#file(record, '', TRACE);
  }

  /** Needs no reports. */
  async screenshot(record: SessionRecord, name: string): Promise<OpenFile> {
    if (this.#shared === null || record.endedAt === null)
      return openArtifact(join(this.dir(record.id), 'screenshots'), name);
    return this.#file(record, 'screenshots/', name);
  }

  /** What a session without a browser has downloaded; its reports are not needed. */
  async downloads<T>(
    record: SessionRecord,
    read: { store(stored: StoredArtifacts): Promise<T>; folder(dirs: FileDirs): Promise<T> },
  ): Promise<T> {
    const folder = () => read.folder(endedSessionFiles(this.#sessionsDir, record.id));
    if (this.#shared === null || record.endedAt === null) return folder();
    return this.#read(record, { store: (stored) => read.store(stored), folder });
  }

  /** @throws UNAVAILABLE from the store; then something may be left, and it can be tried again */
  async remove(id: SessionId): Promise<void> {
    await this.#writing.get(id)?.catch(() => undefined);
    await this.#shared?.remove(id);
    this.#complete.delete(id);
    await rm(this.dir(id), { recursive: true, force: true });
  }

  /** Ensures that the artifacts are up to date; an ended session's are created once. */
  async ensure(record: SessionRecord): Promise<void> {
    await this.#writing.get(record.id)?.catch(() => undefined);
    if (!this.#complete.has(record.id)) await this.write(record);
  }

  /**
   * Adds files to an ended session's artifacts.
   * @param write gets the folder in which they are to be, under the paths of artifacts
   */
  async add<T>(record: SessionRecord, write: (dir: string) => Promise<T>): Promise<T> {
    return this.#read(record, {
      folder: write,
      store: async (stored) => {
        const dir = join(this.#sessionsDir, `.gone-${randomUUID()}`);
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

  /** The bytes of an ended session's artifacts that are not in its folder. @throws UNAVAILABLE from the store */
  async storedBytes(id: SessionId): Promise<number> {
    return (await this.#shared?.bytes(id)) ?? 0;
  }

  /** The folder of a session's artifacts. */
  dir(id: SessionId): string {
    return join(this.#sessionsDir, id);
  }

  #file(record: SessionRecord, folder: string, name: string): Promise<OpenFile> {
    return this.#read(record, {
      store: (stored) => stored.file(folder, name),
      folder: (dir) => openArtifact(join(dir, folder), name),
    });
  }

  /** Reads from where the artifacts are. What was opened in a folder stays readable when the folder is removed. */
  async #read<T>(
    record: SessionRecord,
    from: { store(stored: StoredArtifacts): Promise<T>; folder(dir: string): Promise<T> },
  ): Promise<T> {
    const held = await this.#hold(record);
    try {
      return await (held.kind === 'store' ? from.store(held.stored) : from.folder(held.dir));
    } finally {
      held.release();
    }
  }

  async #hold(record: SessionRecord): Promise<Held> {
    const { id } = record;
    if (this.#shared === null) {
      if (record.artifacts === 'stored') throw storeMissing();
      await this.ensure(record);
      return { kind: 'folder', dir: this.dir(id), release: () => undefined };
    }
    await this.#writing.get(id)?.catch(() => undefined);
    const place = await this.#shared.place(record);
    if (place.kind === 'store') {
      return { kind: 'store', stored: new StoredArtifacts(this.#shared.store, id), release: () => undefined };
    }
    try {
      await this.ensure(record);
      return { kind: 'folder', dir: this.dir(id), release: () => place.release() };
    } catch (error) {
      place.release();
      throw error;
    }
  }

  async #write(record: SessionRecord): Promise<void> {
    if (this.#shared?.hasLeft(record.id)) return;
    await this.#shared?.fill(record);
    // Where the artifacts are is not for those who have them.
    const { artifacts: _, ...written } = record;
    await this.#pool.produce(this.dir(record.id), written, journaledEvents(this.#journal, record.id));
    if (record.endedAt === null) return;
    if (this.#complete.size >= 10_000) this.#complete.clear();
    this.#complete.add(record.id);
  }
}
