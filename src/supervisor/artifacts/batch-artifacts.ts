import type { Readable } from 'node:stream';
import type { BatchJUnitQuery } from '../../protocol/batch.js';
import { batchFolders } from '../../protocol/batch-folders.js';
import type { SessionId, SessionRecord } from '../../protocol/session.js';
import { type ArchiveSource, openArchive } from '../../report/archive.js';
import type { BatchLinks } from '../../report/batch-junit.js';
import type { ReportPool } from '../../report/report-pool.js';
import type { ArtifactKeeper } from './artifact-keeper.js';
import type { SessionNow } from './session-artifacts.js';

/** What the jobs of a batch left, collected: one zip, one JUnit file. */
export class BatchArtifacts {
  readonly #keeper: ArtifactKeeper;
  readonly #pool: ReportPool;
  readonly #now: (id: SessionId) => Promise<SessionNow>;

  /** @param parts.now waits for what a session that just ended still has to put into its folder */
  constructor(parts: {
    readonly keeper: ArtifactKeeper;
    readonly pool: ReportPool;
    now(id: SessionId): Promise<SessionNow>;
  }) {
    this.#keeper = parts.keeper;
    this.#pool = parts.pool;
    this.#now = (id) => parts.now(id);
  }

  /** A folder for each job that has begun. Artifacts that are not there yet are made when it is their turn. */
  archive(jobs: readonly SessionRecord[]): Readable {
    return openArchive(this.#sources(jobs));
  }

  /** @param base the service's address as its client calls it */
  async junit(
    name: string | null,
    jobs: readonly SessionRecord[],
    query: BatchJUnitQuery,
    base: string,
  ): Promise<string> {
    const folders = batchFolders(jobs);
    const made: SessionRecord[] = [];
    for (const job of jobs) made.push(job.startedAt === null ? job : (await this.#made(job.id)).record);
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
      const { files } = await this.#made(id);
      yield { dir: this.#keeper.dir(id), downloadsDir: files?.downloadsDir, folder: folders.get(id) ?? id };
    }
  }

  async #made(id: SessionId): Promise<SessionNow> {
    const now = await this.#now(id);
    await this.#keeper.made(now.record);
    return now;
  }
}

function linksOf({ links = 'urls', folder = '' }: BatchJUnitQuery, base: string): BatchLinks {
  if (links === 'urls') return { kind: 'urls', base };
  return links === 'files' ? { kind: 'files', folder } : { kind: 'none' };
}
