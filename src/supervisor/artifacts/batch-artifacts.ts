import type { Readable } from 'node:stream';
import type { BatchJUnitQuery } from '../../protocol/batches/batch.js';
import { batchFolders } from '../../protocol/batches/batch-folders.js';
import { PRODUCT_NAME } from '../../protocol/product-name.js';
import type { SessionId, SessionRecord } from '../../protocol/session.js';
import { type ArchiveSource, openArchive, type StoredSource } from '../../report/archive.js';
import type { BatchJUnitTask, BatchLinks } from '../../report/junit.js';
import type { ReportPool } from '../../report/report-pool.js';
import type { ArtifactKeeper } from './artifact-keeper.js';
import type { SessionNow } from './session-artifacts.js';

/** Reports that are fetched at once. */
const REPORTS_AT_ONCE = 8;

/** Collects the artifacts of a batch's jobs: one zip, one JUnit file. */
export class BatchArtifacts {
  readonly #keeper: ArtifactKeeper;
  readonly #pool: ReportPool;
  readonly #now: (id: SessionId) => Promise<SessionNow>;
  readonly #elsewhere: (id: SessionId) => Promise<StoredSource | null>;

  /**
   * @param parts.now waits until a session that has just ended has written its files
   * @param parts.elsewhere the artifacts of a session that another node has; null: this one has them, or makes them
   */
  constructor(parts: {
    readonly keeper: ArtifactKeeper;
    readonly pool: ReportPool;
    now(id: SessionId): Promise<SessionNow>;
    elsewhere?(id: SessionId): Promise<StoredSource | null>;
  }) {
    this.#keeper = parts.keeper;
    this.#pool = parts.pool;
    this.#now = (id) => parts.now(id);
    this.#elsewhere = async (id) => (await parts.elsewhere?.(id)) ?? null;
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
    const made: BatchJUnitTask['jobs'][number][] = [];
    const releases: (() => Promise<void>)[] = [];
    const faults: unknown[] = [];
    const make = async (index: number, job: SessionRecord) => {
      const folder = folders.get(job.id) ?? job.id;
      made[index] = { record: job, dir: this.#keeper.dir(job.id), folder };
      if (job.startedAt === null) return;
      const { record } = await this.#now(job.id);
      const { dir, release } = await this.#keeper.reportFolder(record);
      releases.push(release);
      made[index] = { record, dir, folder };
    };
    const left = jobs.entries();
    const makeNext = async () => {
      for (const [index, job] of left) {
        if (faults.length > 0) return;
        await make(index, job).catch((error: unknown) => faults.push(error));
      }
    };
    try {
      await Promise.all(Array.from({ length: REPORTS_AT_ONCE }, makeNext));
      if (faults.length > 0) throw faults[0];
      return await this.#pool.collect({ name: name ?? PRODUCT_NAME, links: linksOf(query, base), jobs: made });
    } finally {
      for (const release of releases) await release();
    }
  }

  async *#sources(jobs: readonly SessionRecord[]): AsyncGenerator<ArchiveSource | StoredSource, void> {
    const folders = batchFolders(jobs);
    for (const { id, startedAt } of jobs) {
      if (startedAt === null) continue;
      const folder = folders.get(id) ?? id;
      const elsewhere = await this.#elsewhere(id);
      if (elsewhere !== null) {
        yield { ...elsewhere, folder };
        continue;
      }
      const { record, files } = await this.#now(id);
      const { source, release } = await this.#keeper.source(record, files, folder);
      try {
        yield source;
      } finally {
        release();
      }
    }
  }
}

function linksOf({ links = 'urls', folder = '' }: BatchJUnitQuery, base: string): BatchLinks {
  if (links === 'urls') return { kind: 'urls', base };
  return links === 'files' ? { kind: 'files', folder } : { kind: 'none' };
}
