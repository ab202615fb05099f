import type { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import type { BatchJUnitQuery } from '../../protocol/batches/batch.js';
import { batchFolders } from '../../protocol/batches/batch-folders.js';
import type { SessionId, SessionRecord } from '../../protocol/session.js';
import { type ArchiveSource, openArchive, type StoredSource } from '../../report/archive.js';
import type { BatchJUnitTask, BatchLinks } from '../../report/batch-junit.js';
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
    const releases: (() => void)[] = [];
    try {
      const made: BatchJUnitTask['jobs'][number][] = [];
      for (const job of jobs) {
        const held = await this.#report(job);
        releases.push(held.release);
        const { record, dir, text } = held;
        made.push({ record, dir, ...(text === undefined ? {} : { text }), folder: folders.get(job.id) ?? job.id });
      }
      return await this.#pool.collect({ name: name ?? 'troupe', links: linksOf(query, base), jobs: made });
    } finally {
      for (const release of releases) release();
    }
  }

  async #report(job: SessionRecord) {
    const dir = this.#keeper.dir(job.id);
    if (job.startedAt === null) return { record: job, dir, text: undefined, release: () => undefined };
    const { record, files } = await this.#now(job.id);
    const { source, release } = await this.#keeper.source(record, files);
    if (!('files' in source)) return { record, dir, text: undefined, release };
    const opened = await this.#keeper.report(record, 'report.json');
    return { record, dir, text: await textOf(opened.stream), release };
  }

  async *#sources(jobs: readonly SessionRecord[]): AsyncGenerator<ArchiveSource | StoredSource, void> {
    const folders = batchFolders(jobs);
    for (const { id, startedAt } of jobs) {
      if (startedAt === null) continue;
      const { record, files } = await this.#now(id);
      const { source, release } = await this.#keeper.source(record, files, folders.get(id) ?? id);
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
