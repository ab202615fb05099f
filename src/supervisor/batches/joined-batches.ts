import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RequestVault } from '../../auth/request-vault.js';
import type { Clock } from '../../base/clock.js';
import type { Config } from '../../config.js';
import type { JoinedAttempt, Journal } from '../../journal/journal.js';
import { BatchId, type BatchRecord } from '../../protocol/batches/batch.js';
import {
  CLAIM_LEASE_S,
  type ClaimAnswer,
  type ClaimRequest,
  type JoinedBatch,
  type JoinedFlows,
  JoinedResult,
  type JoinRequest,
  type RenewAnswer,
} from '../../protocol/batches/joined.js';
import { TroupeError } from '../../protocol/errors.js';
import {
  batchFlowsRow,
  MAX_UPLOAD_BYTES,
  openArtifact,
  removeBatchFlows,
  writeBatchFlows,
} from '../artifacts/index.js';
import type { OpenFile } from '../ports/artifacts.js';
import type { Joined } from '../ports/joined.js';
import { newSessionId } from '../sessions/index.js';
import { type EndedJob, type SealedJobs, sealJobs } from './rerun.js';
import { batchRow, type StoredBatch } from './stored-batch.js';

/** How soon a machine that gets no job asks again, in seconds. */
const RETRY_AFTER_S = 1;
/** No client can send this as a key of its own: headers have no line ends. */
const BUILD_KEY = 'join\n';

export interface JoinedBatchesParts {
  readonly journal: Journal;
  readonly config: Pick<Config, 'batchesDir' | 'flowsDir' | 'node'>;
  readonly vault: RequestVault;
  readonly clock: Clock;
  /** @throws NOT_FOUND */
  find(id: string): Promise<StoredBatch>;
  record(batch: StoredBatch): Promise<BatchRecord>;
  /** Never rejects. */
  storeJobs(batch: BatchId, jobs: SealedJobs): Promise<void>;
}

/** See {@link Joined}. Everything is in the journal, so any node answers; only artifacts are on the node that took them. */
export class JoinedBatches implements Joined {
  readonly #parts: JoinedBatchesParts;

  constructor(parts: JoinedBatchesParts) {
    this.#parts = parts;
  }

  async join(request: JoinRequest): Promise<JoinedBatch> {
    const known = await this.#ofBuild(request);
    if (known !== null) return { ...(await this.#parts.record(known)), created: false };
    const { build, hash, name = null, labels = {}, flows, jobs } = request;
    const { clock, journal, config, vault } = this.#parts;
    const id = BatchId.parse(newSessionId());
    const batch: StoredBatch = {
      id,
      createdAt: clock.now().toISOString(),
      name,
      labels,
      parallel: null,
      total: jobs.length,
      after: journal.lastSeq(),
      cancelled: false,
      join: { build, hash },
    };
    try {
      if (flows !== undefined) await writeBatchFlows(config, id, flows);
      await journal.write({
        submissions: [{ key: `${BUILD_KEY}${build}`, sessionId: id, fingerprint: hash }],
        keyValues: [
          batchRow(batch),
          ...(flows === undefined || config.node === undefined ? [] : [batchFlowsRow(id, flows)]),
        ],
        joined: jobs.map((job, index) => ({
          batchId: id,
          job: index,
          name: job.name,
          place: index,
          retries: job.retries ?? 0,
        })),
      });
    } catch (error) {
      await removeBatchFlows(config, id);
      // Of two machines that come at the same moment, the journal refuses one.
      const other = await this.#ofBuild(request);
      if (other === null) throw error;
      return { ...(await this.#parts.record(other)), created: false };
    }
    const again = jobs.flatMap(({ request: job }, index) => (job === undefined ? [] : [[String(index), job] as const]));
    if (again.length > 0) await this.#parts.storeJobs(id, sealJobs(vault, again));
    return { ...(await this.#parts.record(batch)), created: true };
  }

  async claim(id: string, request: ClaimRequest): Promise<ClaimAnswer> {
    const { id: batchId } = await this.#find(id);
    const { journal } = this.#parts;
    const { machine = 'unnamed', lease = CLAIM_LEASE_S, token = randomBytes(18).toString('base64url') } = request;
    if ((await journal.joined.attempt(attemptId(token))) !== null) throw lost();
    const claim = { batchId, token, machine, leaseMs: lease * 1000, at: this.#now() };
    const number = await journal.joined.change({ change: 'claim', ...claim });
    if (number === 0) {
      const { endedAt } = await this.#parts.record(await this.#find(id));
      return endedAt === null ? { state: 'waiting', retryAfter: RETRY_AFTER_S } : { state: 'ended' };
    }
    const job = await journal.joined.ofToken(batchId, token);
    if (job === null) throw lost();
    const { name, attempt, retries } = job;
    return { state: 'claimed', job: { name, attempt, retries }, token, lease };
  }

  async renew(id: string, token: string, leaseSeconds: number): Promise<RenewAnswer> {
    const { id: batchId } = await this.#find(id);
    const renewal = { batchId, token, leaseMs: leaseSeconds * 1000, at: this.#now() };
    if ((await this.#parts.journal.joined.change({ change: 'renew', ...renewal })) === 0) throw lost();
    return { lease: leaseSeconds };
  }

  async storeArtifacts(id: string, token: string, content: Readable): Promise<number> {
    const { id: batchId } = await this.#find(id);
    const { journal, config } = this.#parts;
    if ((await journal.joined.ofToken(batchId, token)) === null) throw lost();
    const folder = this.#folder(batchId);
    await mkdir(folder, { recursive: true });
    const file = join(folder, zipName(attemptId(token)));
    try {
      await pipeline(content, atMost(MAX_UPLOAD_BYTES), createWriteStream(`${file}.part`));
      await rename(`${file}.part`, file);
    } catch (error) {
      await rm(`${file}.part`, { force: true });
      throw error;
    }
    const { size: bytes } = await stat(file);
    const stored = { batchId, token, at: this.#now(), node: config.node?.id ?? null, bytes };
    if ((await journal.joined.change({ change: 'artifacts', ...stored })) === 1) return bytes;
    await rm(file, { force: true });
    throw lost();
  }

  async finish(id: string, token: string, result: JoinedResult): Promise<void> {
    const { id: batchId, labels } = await this.#find(id);
    const { journal } = this.#parts;
    const attempt = attemptId(token);
    const ended = await journal.joined.change({
      change: 'end',
      batchId,
      token,
      at: this.#now(),
      id: attempt,
      state: result.state,
      mayPassAgain: result.state === 'failed' && result.mayPassAgain,
      data: JSON.stringify(result),
      durationMs: result.durationMs,
      commit: labels.commit ?? null,
      branch: labels.branch ?? null,
      runSeq: -1 - randomBytes(6).readUIntBE(0, 6),
    });
    if (ended === 1) return;
    // A machine whose answer was lost on its way sends its result again.
    if ((await journal.joined.attempt(attempt)) !== null) return;
    throw lost();
  }

  async results(id: string): Promise<JoinedFlows> {
    const { id: batchId } = await this.#find(id);
    await this.sweep(batchId);
    const { joined } = this.#parts.journal;
    const [jobs, attempts] = await Promise.all([joined.jobs(batchId), joined.attempts(batchId)]);
    const byJob = new Map<number, JoinedAttempt[]>();
    for (const attempt of attempts) byJob.set(attempt.job, [...(byJob.get(attempt.job) ?? []), attempt]);
    return {
      flows: jobs.map(({ job, name, state, machine }) => ({
        name,
        state,
        machine,
        attempts: (byJob.get(job) ?? []).map((attempt) => attemptOf(attempt)),
      })),
    };
  }

  /** The jobs as `readJobsAgain` takes them. */
  async endedJobs(batchId: BatchId): Promise<readonly EndedJob[]> {
    await this.sweep(batchId);
    const jobs = await this.#parts.journal.joined.jobs(batchId);
    return jobs.map(({ job, name, state }) => ({ id: String(job), status: state, name, flowFiles: [] }));
  }

  async artifacts(id: string): Promise<OpenFile> {
    const attempt = await this.#parts.journal.joined.attempt(id);
    if (attempt === null || attempt.artifactBytes === null) {
      throw new TroupeError('NOT_FOUND', 'There are no artifacts of such an attempt');
    }
    return openArtifact(this.#folder(attempt.batchId), zipName(attempt.id));
  }

  /** The zip of an attempt, if this node took it. */
  fileOf(batch: string, attempt: string): string {
    return join(this.#folder(batch), zipName(attempt));
  }

  /** Ends claims that have expired, so that what is read next is up to date. */
  async sweep(batchId: BatchId): Promise<void> {
    await this.#parts.journal.joined.change({ change: 'sweep', batchId, at: this.#now() });
  }

  /** Stops all jobs that have not ended: their machines find out when they renew. */
  async stop(batchId: BatchId): Promise<void> {
    await this.#parts.journal.joined.change({ change: 'stop', batchId, at: this.#now() });
  }

  async #ofBuild({ build, hash }: JoinRequest): Promise<StoredBatch | null> {
    const known = await this.#parts.journal.submission(`${BUILD_KEY}${build}`);
    if (known === null) return null;
    if (known.fingerprint !== hash) {
      const message = `build ${build} was begun with other flows (${known.fingerprint}, not ${hash})`;
      throw new TroupeError('INVALID_REQUEST', `"hash": ${message}: all machines need the same files and options`, {
        issues: [{ path: 'hash', message }],
      });
    }
    return this.#parts.find(known.sessionId);
  }

  /** @throws NOT_FOUND, also for a batch that is not a joined one */
  async #find(id: string): Promise<StoredBatch> {
    const batch = await this.#parts.find(id);
    if (batch.join !== undefined) return batch;
    throw new TroupeError(
      'NOT_FOUND',
      `The service runs the jobs of batch ${batch.id} itself; there is nothing to claim`,
    );
  }

  #folder(batchId: string): string {
    return join(this.#parts.config.batchesDir, batchId, 'results');
  }

  #now(): string {
    return this.#parts.clock.now().toISOString();
  }
}

function attemptOf({ id, attempt, machine, data, artifactBytes }: JoinedAttempt) {
  return {
    attempt,
    machine,
    result: data === null ? null : JoinedResult.parse(JSON.parse(data)),
    artifacts: artifactBytes === null ? null : `/api/attempts/${id}/artifacts`,
  };
}

/** Identifies the attempt of a claim, in the format of a session's id. It does not give the token away. */
function attemptId(token: string): string {
  const digest = createHash('sha256').update(token).digest();
  return digest.readBigUInt64BE().toString(36).padStart(12, '0').slice(-12);
}

function zipName(attempt: string): string {
  return `${attempt}.zip`;
}

/** Passes at most so many bytes. */
function atMost(limit: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= limit) done(null, chunk);
      else done(new TroupeError('BODY_TOO_LARGE', `Artifacts have at most ${limit} bytes`));
    },
  });
}

function lost(): TroupeError {
  return new TroupeError(
    'CLAIM_LOST',
    'The claim has expired, or its batch was stopped: the flow is no longer this machine’s, and nothing was changed',
  );
}
