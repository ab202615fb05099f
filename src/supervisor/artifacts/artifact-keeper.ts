import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { asAbsent } from '../../base/system-fault.js';
import { contentOf, hasOneName, openOwnFile, openRegularFile } from '../../files/regular-file.js';
import type { Journal } from '../../journal/journal.js';
import type { SessionArtifact } from '../../protocol/answers.js';
import { TroupeError } from '../../protocol/errors.js';
import type { SessionId, SessionRecord } from '../../protocol/session.js';
import { keepsTrace } from '../../protocol/trace/keeps-trace.js';
import { noTrace, TRACE } from '../../protocol/trace/trace.js';
import { archiveEntries, openArchive } from '../../report/archive.js';
import type { ReportPool } from '../../report/report-pool.js';
import { journaledEvents } from '../events/index.js';
import type { OpenArtifact, OpenFile } from '../ports/artifacts.js';
import { type FileDirs, openArtifact } from './session-files.js';

/**
 * Creates a session's artifacts from the journal: transcript, report, HTML, JUnit. They can be created again at any
 * time,
 * so nothing is lost if the service is killed before it wrote them.
 */
export class ArtifactKeeper {
  readonly #journal: Journal;
  readonly #pool: ReportPool;
  readonly #sessionsDir: string;
  /** Writes in progress by session: later callers wait for them. */
  readonly #writing = new Map<SessionId, Promise<void>>();
  /** Sessions whose final artifacts are known to be on disk. Cleared when it is full. */
  readonly #complete = new Set<SessionId>();

  constructor(journal: Journal, pool: ReportPool, sessionsDir: string) {
    this.#journal = journal;
    this.#pool = pool;
    this.#sessionsDir = sessionsDir;
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

  /** The zip of a session; creates an ended session's artifacts if they are missing. */
  async archive(record: SessionRecord, files: FileDirs | null): Promise<Readable> {
    await this.ensure(record);
    return openArchive([{ dir: this.dir(record.id), downloadsDir: files?.downloadsDir }]);
  }

  /** The files of {@link archive}. A running session's downloads come and go: one that is gone is left out. */
  async artifacts(record: SessionRecord, files: FileDirs | null): Promise<readonly SessionArtifact[]> {
    await this.ensure(record);
    const found = new Map<string, SessionArtifact>();
    for await (const entry of archiveEntries({ dir: this.dir(record.id), downloadsDir: files?.downloadsDir })) {
      const stats = found.has(entry.name) ? null : await lstat(entry.path).catch(asAbsent);
      if (stats === null || !stats.isFile() || (entry.untrusted === true && !hasOneName(stats))) continue;
      found.set(entry.name, { path: entry.name, bytes: stats.size, modifiedAt: stats.mtime.toISOString() });
    }
    return [...found.values()];
  }

  /** @throws NOT_FOUND for a path that the zip does not contain */
  async artifact(record: SessionRecord, files: FileDirs | null, path: string): Promise<OpenArtifact> {
    await this.ensure(record);
    for await (const entry of archiveEntries({ dir: this.dir(record.id), downloadsDir: files?.downloadsDir })) {
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
  }

  async report(record: SessionRecord, name: 'report.html' | 'report.json'): Promise<OpenFile> {
    await this.ensure(record);
    return openArtifact(this.dir(record.id), name);
  }

  /** @throws NOT_FOUND if the session has none */
  async trace(record: SessionRecord): Promise<OpenFile> {
    if (!keepsTrace(record)) throw noTrace();
    await this.ensure(record);
    return openArtifact(this.dir(record.id), TRACE);
  }

  screenshot(id: SessionId, name: string): Promise<OpenFile> {
    return openArtifact(join(this.dir(id), 'screenshots'), name);
  }

  async remove(id: SessionId): Promise<void> {
    await this.#writing.get(id)?.catch(() => undefined);
    this.#complete.delete(id);
    await rm(this.dir(id), { recursive: true, force: true });
  }

  /** Ensures that the artifacts are up to date; an ended session's are created once. */
  async ensure(record: SessionRecord): Promise<void> {
    await this.#writing.get(record.id)?.catch(() => undefined);
    if (!this.#complete.has(record.id)) await this.write(record);
  }

  async #write(record: SessionRecord): Promise<void> {
    await this.#pool.produce(this.dir(record.id), record, journaledEvents(this.#journal, record.id));
    if (record.endedAt === null) return;
    if (this.#complete.size >= 10_000) this.#complete.clear();
    this.#complete.add(record.id);
  }

  /** The folder of a session's artifacts. */
  dir(id: SessionId): string {
    return join(this.#sessionsDir, id);
  }
}
