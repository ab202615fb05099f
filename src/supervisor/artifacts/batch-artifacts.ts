import type { Readable } from 'node:stream';
import type { BatchJUnitQuery } from '../../protocol/batches/batch.js';
import { batchFolders } from '../../protocol/batches/batch-folders.js';
import type { SessionId, SessionRecord } from '../../protocol/session.js';
import { type ArchiveSource, openArchive } from '../../report/archive.js';
import type { BatchLinks } from '../../report/batch-junit.js';
import type { ReportPool } from '../../report/report-pool.js';
import type { ArtifactKeeper } from './artifact-keeper.js';
import type { SessionNow } from './session-artifacts.js';

/** Collects the artifacts of a batch's jobs: one zip, one JUnit file. */
export class BatchArtifacts {
  readonly #keeper: ArtifactKeeper;
  readonly #pool: ReportPool;
  readonly #now: (id: SessionId) => Promise<SessionNow>;

  /** @param parts.now waits until a session that has just ended has written its files */
  constructor(parts: {
    readonly keeper: ArtifactKeeper;
    readonly pool: ReportPool;
    now(id: SessionId): Promise<SessionNow>;
  }) {
    this.#keeper = parts.keeper;
    this.#pool = parts.pool;
    this.#now = (id) => parts.now(id);
  }

  /** A zip with a folder for each job that was started. Missing artifacts are created when it is their turn. */
  archive(jobs: readonly SessionRecord[]): Readable {
    return openArchive(this.#sources(jobs));
  }

  /** @param base the service's address as its client sees it */
  async junit(
    name: string | null,
    jobs: readonly SessionRecord[],
    query: BatchJUnitQuery,
    base: string,
  ): Promise<string> {
    const folders = batchFolders(jobs);
    const made: SessionRecord[] = [];
    for (const job of jobs) made.push(job.startedAt === null ? job : (await this.#ensure(job.id)).record);
    return this.#pool.collect({
      name: name ?? 'troupe',
      links: linksOf(query, base),
      jobs: made.map((record) => ({
        record,
        dir: this.#keeper.dir(record.id),
        folder: folders.get(record.id) ?? record.id,
      })),
    });
  }

  async *#sources(jobs: readonly SessionRecord[]): AsyncGenerator<ArchiveSource, void> {
    const folders = batchFolders(jobs);
    for (const { id, startedAt } of jobs) {
      if (startedAt === null) continue;
      const { files } = await this.#ensure(id);
      yield { dir: this.#keeper.dir(id), downloadsDir: files?.downloadsDir, folder: folders.get(id) ?? id };
    }
  }

  async #ensure(id: SessionId): Promise<SessionNow> {
    const now = await this.#now(id);
    await this.#keeper.ensure(now.record);
    return now;
  }
}

function linksOf({ links = 'urls', folder = '' }: BatchJUnitQuery, base: string): BatchLinks {
  if (links === 'urls') return { kind: 'urls', base };
  return links === 'files' ? { kind: 'files', folder } : { kind: 'none' };
}
