import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Config } from '../../config.js';
import { unpackZip } from '../../files/unpack-zip.js';
import type { BatchJUnitQuery, BatchRecord } from '../../protocol/batches/batch.js';
import { batchFolders } from '../../protocol/batches/batch-folders.js';
import { type JoinedFlow, type JoinedFlows, MAX_UNPACKED_BYTES } from '../../protocol/batches/joined.js';
import { PRODUCT_NAME } from '../../protocol/product-name.js';
import { type ArchiveSource, MISSING, openArchive } from '../../report/archive.js';
import { attemptFolder, joinedPart } from '../../report/suite/joined-flow.js';
import { renderSuiteJUnit } from '../../report/suite/suite-junit.js';
import type { FlowResult } from '../../report/suite/suite-result.js';
import type { JoinedBatches } from './joined-batches.js';
import type { ResultZip } from './result-zips.js';

export interface JoinedArtifactsParts {
  readonly config: Pick<Config, 'tmpDir'>;
  readonly version: string;
  readonly joined: Pick<JoinedBatches, 'results' | 'zips'>;
}

/** Collects what the machines of a joined batch have sent, as `BatchArtifacts` does for the jobs of the service. */
export class JoinedArtifacts {
  readonly #parts: JoinedArtifactsParts;

  constructor(parts: JoinedArtifactsParts) {
    this.#parts = parts;
  }

  /**
   * A zip with a folder for each flow, in it `retry-1` and so on for later attempts. If artifacts cannot be had, since the
   * node with them is gone, a file says so in their place.
   */
  async archive(batch: string): Promise<Readable> {
    const { joined } = this.#parts;
    const { flows } = await joined.results(batch);
    return openArchive(this.#sources(batch, foldersOf(flows), await joined.zips.ofEnded(batch)));
  }

  /** @param base the service's address as its client sees it */
  async junit({ id, name, labels }: BatchRecord, query: BatchJUnitQuery, base: string): Promise<string> {
    const { flows, createdAt, endedAt } = await this.#parts.joined.results(id);
    const folders = foldersOf(flows);
    return renderSuiteJUnit({
      name: name ?? PRODUCT_NAME,
      version: this.#parts.version,
      startedAt: createdAt,
      endedAt: endedAt ?? createdAt,
      labels,
      build: null,
      flows: flows.map((flow, index) => resultOf(flow, folders[index] ?? '', query, base)),
    });
  }

  /** What a machine sent is unpacked first: only files that artifacts consist of go on from there. */
  async *#sources(
    batch: string,
    folders: readonly string[],
    zips: Awaited<ReturnType<JoinedBatches['zips']['ofEnded']>>,
  ): AsyncGenerator<ArchiveSource, void> {
    const { tmpDir } = this.#parts.config;
    await mkdir(tmpDir, { recursive: true });
    for (const { job, attempt, ...zip } of zips) {
      const temporary = await mkdtemp(join(tmpDir, 'attempt-'));
      const dir = join(temporary, 'files');
      try {
        await mkdir(dir);
        const file = await this.#parts.joined.zips.fetch(batch, zip, join(temporary, 'artifacts.zip'));
        if (typeof file === 'string') await unpackZip(file, dir, { maxBytes: MAX_UNPACKED_BYTES });
        else await writeFile(join(dir, MISSING), missingText(zip, file));
        yield { dir, folder: attemptFolder(folders[job] ?? '', attempt - 1) };
      } finally {
        await rm(temporary, { recursive: true, force: true });
      }
    }
  }
}

function missingText({ node }: ResultZip, { message }: Error): string {
  const where = node === null ? '' : `, since they are on the node ${node}`;
  return `The artifacts of this attempt are missing here${where}.\n${message}.\n`;
}

/** The folder of each flow, in order. */
function foldersOf(flows: JoinedFlows['flows']): readonly string[] {
  const folders = batchFolders(flows.map(({ name }, index) => ({ id: String(index), name, flowFiles: [] })));
  return flows.map((_, index) => folders.get(String(index)) ?? '');
}

function resultOf(flow: JoinedFlow, folder: string, query: BatchJUnitQuery, base: string): FlowResult {
  return {
    ...joinedPart(flow),
    ...filesOf(flow, folder, query, base),
    name: flow.name,
    file: null,
    tags: [],
    attempts: flow.attempts.length,
    quarantine: null,
    history: null,
    again: null,
  };
}

/** Where the files of the last attempt are, as the query asks: at the service there is only the zip. */
function filesOf(
  { attempts }: JoinedFlow,
  folder: string,
  { links = 'urls', folder: below = '' }: BatchJUnitQuery,
  base: string,
): Pick<FlowResult, 'report' | 'picture'> {
  const last = attempts.at(-1);
  if (last === undefined || last.artifacts === null || links === 'none') return { report: null, picture: null };
  if (links === 'urls') return { report: `${base}${last.artifacts}`, picture: null };
  const inFolder = (path: string) => join(below, attemptFolder(folder, last.attempt - 1), path);
  const screenshot = last.result?.failure?.screenshot;
  return { report: inFolder('report.html'), picture: screenshot === undefined ? null : inFolder(screenshot) };
}
