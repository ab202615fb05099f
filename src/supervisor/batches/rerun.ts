import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { RequestVault } from '../../auth/request-vault.js';
import { asAbsent } from '../../base/system-fault.js';
import type { Config } from '../../config.js';
import type { Journal, KeyValue } from '../../journal/journal.js';
import { type BatchRequest, isPicture } from '../../protocol/batches/batch.js';
import { TroupeError } from '../../protocol/errors.js';
import { JobRequest, type SessionRecord } from '../../protocol/session.js';
import { flowsDirOf } from '../artifacts/index.js';

/** Members that may hold credentials. They are not kept after a job has ended, so a job with one cannot run again. */
const PRIVATE = ['secrets', 'storageState', 'httpCredentials', 'headers', 'proxy'] as const;

const StoredJobs = z.record(
  z.string(),
  z.object({ job: JobRequest, without: z.array(z.enum(PRIVATE)).readonly() }).readonly(),
);

interface Place {
  readonly config: Pick<Config, 'flowsDir' | 'batchesDir'>;
  readonly batch: string;
}

/** The jobs of a batch as they are stored so that they can run again: encrypted, and without {@link PRIVATE} members. */
export type SealedJobs = ReturnType<RequestVault['seal']>;

/** @param jobs by the id of the session */
export function sealJobs(vault: RequestVault, jobs: readonly (readonly [string, JobRequest])[]): SealedJobs {
  const stored = jobs.map(([id, job]) => {
    const without = PRIVATE.filter((member) => job[member] !== undefined);
    const kept = Object.entries(job).filter(([member]) => !without.some((one) => one === member));
    return [id, { job: Object.fromEntries(kept), without }];
  });
  return vault.seal(Object.fromEntries(stored), '');
}

/** The row of the journal with the jobs, for other nodes. */
export function batchJobsRow(batch: string, jobs: SealedJobs): KeyValue {
  return { kind: 'batch-jobs', id: batch, data: jobs };
}

/** Stores the jobs in the batch's folder. They are removed with the batch. */
export async function storeJobs({ config, batch }: Place, jobs: SealedJobs): Promise<void> {
  const file = fileOf(config, batch);
  await mkdir(join(config.batchesDir, batch), { recursive: true });
  try {
    await writeFile(`${file}.new`, JSON.stringify(jobs), { mode: 0o600 });
    await rename(`${file}.new`, file);
  } catch (cause) {
    await rm(`${file}.new`, { force: true }).catch(() => undefined);
    throw cause;
  }
}

/**
 * The jobs and flows of a batch, for a batch that runs them again.
 * @param options.records the jobs of the batch
 * @param options.failed only those that did not complete
 * @throws INVALID_REQUEST if there is none, if one needs what was not kept, or if the jobs are not stored
 */
export async function readJobsAgain(
  options: Place & {
    readonly vault: RequestVault;
    readonly journal: Pick<Journal, 'keyValues'>;
    readonly records: readonly SessionRecord[];
    readonly failed: boolean;
  },
): Promise<Pick<BatchRequest, 'jobs' | 'flows'>> {
  const { config, vault, journal, batch, records, failed } = options;
  const chosen = records.filter(({ status }) => !failed || status === 'failed' || status === 'stopped');
  if (chosen.length === 0)
    throw new TroupeError('INVALID_REQUEST', 'No job of the batch failed; there is nothing to run');
  const text = await readFile(fileOf(config, batch), 'utf8').catch(asAbsent);
  const sealed: unknown = text === null ? (await journal.keyValues('batch-jobs', batch))[0]?.data : JSON.parse(text);
  const stored = StoredJobs.safeParse(vault.unseal(sealed)?.request);
  if (!stored.success) {
    throw new TroupeError(
      'INVALID_REQUEST',
      'The jobs of the batch were not stored; submit them again, as with `troupe run`',
    );
  }
  const jobs = chosen.map(({ id, name, flowFiles }) => {
    const found = stored.data[id];
    if (found !== undefined && found.without.length === 0) return found.job;
    const title = name ?? flowFiles[0] ?? id;
    const why = `its ${found?.without.join(', ') ?? 'request'} is not kept after its end`;
    throw new TroupeError(
      'INVALID_REQUEST',
      `${title} cannot run again from here: ${why}; run it with \`troupe run --last-failed\``,
    );
  });
  const flows = await ownFlows(config, batch);
  return { jobs, ...(flows === null ? {} : { flows }) };
}

/** The flows that the batch brought with it, by path; null if it uses those of the service. */
async function ownFlows(config: Place['config'], batch: string): Promise<{ [path: string]: string } | null> {
  const folder = flowsDirOf(config, batch);
  if (folder === config.flowsDir) return null;
  const flows: { [path: string]: string } = {};
  // The service alone wrote this folder: it has no links.
  for (const path of await readdir(folder, { recursive: true })) {
    const text = await readFile(join(folder, path), isPicture(path) ? 'base64' : 'utf8').catch(asFolder);
    if (text !== null) flows[path.replaceAll('\\', '/')] = text;
  }
  return flows;
}

function asFolder(error: NodeJS.ErrnoException): null {
  if (error.code === 'EISDIR') return null;
  throw error;
}

function fileOf({ batchesDir }: Pick<Config, 'batchesDir'>, batch: string): string {
  return join(batchesDir, batch, 'jobs.sealed');
}
