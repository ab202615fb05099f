import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Config } from '../../config.js';
import { openZip } from '../../files/open-zip.js';
import type { BatchJUnitQuery, BatchRecord } from '../../protocol/batches/batch.js';
import { batchFolders } from '../../protocol/batches/batch-folders.js';
import type { JoinedFlow } from '../../protocol/batches/joined.js';
import { encodeError } from '../../protocol/errors.js';
import { openArchive, type StoredSource } from '../../report/archive.js';
import { attemptFolder, joinedPart } from '../../report/suite/joined-flow.js';
import { renderSuiteJUnit } from '../../report/suite/suite-junit.js';
import type { FlowResult } from '../../report/suite/suite-result.js';
import type { Nodes } from '../ports/nodes.js';

/** What stands in a folder whose artifacts are not there. */
const MISSING = 'artifacts-missing.txt';

export interface JoinedArtifactsParts {
  readonly config: Pick<Config, 'tmpDir'>;
  readonly version: string;
  /** Null if this service is alone. */
  readonly nodes: Pick<Nodes, 'artifactsElsewhere'> | null;
  /** The zip of an attempt, if this node took it. */
  fileOf(batch: string, attempt: string): string;
}

type Attempt = JoinedFlow['attempts'][number];

/** Collects what the machines of a joined batch have sent, as `BatchArtifacts` does for the jobs of the service. */
export class JoinedArtifacts {
  readonly #parts: JoinedArtifactsParts;

  constructor(parts: JoinedArtifactsParts) {
    this.#parts = parts;
  }

  /**
   * A zip with a folder for each flow, in it `retry-1` and so on for later attempts. Artifacts that are on a node which is
   * gone are missing, and a file says so.
   */
  archive({ id }: Pick<BatchRecord, 'id'>, flows: readonly JoinedFlow[]): Readable {
    return openArchive(this.#sources(id, flows));
  }

  /** @param base the service's address as its client sees it */
  junit(
    { name, labels, createdAt, endedAt }: BatchRecord,
    flows: readonly JoinedFlow[],
    query: BatchJUnitQuery,
    base: string,
  ): string {
    const folders = foldersOf(flows);
    return renderSuiteJUnit({
      name: name ?? 'troupe',
      version: this.#parts.version,
      startedAt: createdAt,
      endedAt: endedAt ?? createdAt,
      labels,
      build: null,
      flows: flows.map((flow, index) =>
        resultOf(flow, (attempt) => filesOf(folders[index] ?? '', flow, attempt, query, base)),
      ),
    });
  }

  async *#sources(batch: string, flows: readonly JoinedFlow[]): AsyncGenerator<StoredSource, void> {
    const folders = foldersOf(flows);
    for (const [index, { attempts }] of flows.entries()) {
      for (const [number, attempt] of attempts.entries()) {
        if (attempt.artifacts === null) continue;
        yield* this.#source(batch, attempt, attemptFolder(folders[index] ?? '', number));
      }
    }
  }

  async *#source(batch: string, { artifacts }: Attempt, folder: string): AsyncGenerator<StoredSource, void> {
    const id = attemptIdOf(artifacts);
    const { tmpDir } = this.#parts.config;
    await mkdir(tmpDir, { recursive: true });
    const temporary = await mkdtemp(join(tmpDir, 'attempt-'));
    try {
      const zip = await this.#fetch(batch, id, join(temporary, 'artifacts.zip'))
        .then(openZip)
        .catch((error: unknown) => encodeError(error).error);
      if (typeof zip === 'string') {
        yield { folder, files: async () => [missing(zip)] };
        return;
      }
      try {
        const files = zip.entries.map(({ name, modifiedAt, read }) => ({
          name,
          open: async () => ({ content: await read(), modifiedAt }),
        }));
        yield { folder, files: async () => files };
      } finally {
        zip.close();
      }
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  }

  /** @returns the file with the zip; `copy` if it comes from another node */
  async #fetch(batch: string, attempt: string, copy: string): Promise<string> {
    const ended = new AbortController();
    const elsewhere = (await this.#parts.nodes?.artifactsElsewhere(attempt, ended.signal)) ?? null;
    if (elsewhere === null) return this.#parts.fileOf(batch, attempt);
    await pipeline(elsewhere, createWriteStream(copy));
    return copy;
  }
}

function missing(why: string) {
  const open = async () => ({ content: Readable.from([Buffer.from(`${why}\n`)]), modifiedAt: new Date() });
  return { name: MISSING, open };
}

/** The folder of each flow, in order. */
function foldersOf(flows: readonly JoinedFlow[]): readonly string[] {
  const folders = batchFolders(flows.map(({ name }, index) => ({ id: String(index), name, flowFiles: [] })));
  return flows.map((_, index) => folders.get(String(index)) ?? '');
}

function attemptIdOf(artifacts: string | null): string {
  return artifacts?.split('/').at(-2) ?? '';
}

type Files = Pick<FlowResult, 'report' | 'picture'>;

function resultOf(flow: JoinedFlow, filesOfAttempt: (attempt: number) => Files): FlowResult {
  const last = flow.attempts.length - 1;
  return {
    ...joinedPart(flow),
    ...filesOfAttempt(last),
    name: flow.name,
    file: null,
    tags: [],
    quarantine: null,
    history: null,
    again: null,
  };
}

/** Where the files of an attempt are, as the query asks: at the service there is only the zip. */
function filesOf(
  folder: string,
  { attempts }: JoinedFlow,
  number: number,
  { links = 'urls', folder: below = '' }: BatchJUnitQuery,
  base: string,
): Files {
  const { artifacts = null, result = null } = attempts[number] ?? {};
  if (artifacts === null || links === 'none') return { report: null, picture: null };
  if (links === 'urls') return { report: `${base}${artifacts}`, picture: null };
  const inFolder = (path: string) => join(below, attemptFolder(folder, number), path);
  const { screenshot } = result?.failure ?? {};
  return { report: inFolder('report.html'), picture: screenshot === undefined ? null : inFolder(screenshot) };
}
