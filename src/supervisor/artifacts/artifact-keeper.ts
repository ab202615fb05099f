import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Journal } from '../../journal/journal.js';
import type { SessionId, SessionRecord } from '../../protocol/session.js';
import { openArchive } from '../../report/archive.js';
import type { ReportPool } from '../../report/report-pool.js';
import { journaledEvents } from '../events/index.js';
import type { OpenFile } from '../ports/artifacts.js';
import { type FileDirs, openArtifact } from './session-files.js';

/**
 * Derives a session's artifacts from the journal: transcript, report, HTML, JUnit. They can be made again at any time,
 * so a service that was killed before it wrote them owes nobody anything.
 */
export class ArtifactKeeper {
  readonly #journal: Journal;
  readonly #pool: ReportPool;
  readonly #sessionsDir: string;
  /** Writes under way, by session: a second asker waits for the first's. */
  readonly #writing = new Map<SessionId, Promise<void>>();
  /** Sessions whose final artifacts are known to be on disk. Bounded by forgetting all. */
  readonly #whole = new Set<SessionId>();

  constructor(journal: Journal, pool: ReportPool, sessionsDir: string) {
    this.#journal = journal;
    this.#pool = pool;
    this.#sessionsDir = sessionsDir;
  }

  /** Writes the artifacts as the journal has them now. */
  write(record: SessionRecord): Promise<void> {
    const { id } = record;
    const before = this.#writing.get(id) ?? Promise.resolve();
    const writing = before.catch(() => undefined).then(() => this.#write(record));
    this.#writing.set(id, writing);
    return writing.finally(() => {
      if (this.#writing.get(id) === writing) this.#writing.delete(id);
    });
  }

  /** The zip of a session; an ended session's artifacts are made when they are not there. */
  async archive(record: SessionRecord, files: FileDirs | null): Promise<Readable> {
    await this.made(record);
    return openArchive([{ dir: this.dir(record.id), downloadsDir: files?.downloadsDir }]);
  }

  async report(record: SessionRecord): Promise<OpenFile> {
    await this.made(record);
    return openArtifact(this.dir(record.id), 'report.html');
  }

  screenshot(id: SessionId, name: string): Promise<OpenFile> {
    return openArtifact(join(this.dir(id), 'screenshots'), name);
  }

  async remove(id: SessionId): Promise<void> {
    await this.#writing.get(id)?.catch(() => undefined);
    this.#whole.delete(id);
    await rm(this.dir(id), { recursive: true, force: true });
  }

  /** They are there as the journal has them now; an ended session's are made once. */
  async made(record: SessionRecord): Promise<void> {
    await this.#writing.get(record.id)?.catch(() => undefined);
    if (!this.#whole.has(record.id)) await this.write(record);
  }

  async #write(record: SessionRecord): Promise<void> {
    await this.#pool.produce(this.dir(record.id), record, journaledEvents(this.#journal, record.id));
    if (record.endedAt === null) return;
    if (this.#whole.size >= 10_000) this.#whole.clear();
    this.#whole.add(record.id);
  }

  /** Where a session's artifacts are. */
  dir(id: SessionId): string {
    return join(this.#sessionsDir, id);
  }
}
