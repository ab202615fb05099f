import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../base/clock.js';
import type { Config } from '../../config.js';
import { DUE_AT_ONCE, type JoinedAttempt } from '../../journal/joined-changes.js';
import type { Journal } from '../../journal/journal.js';
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
import { MAX_UPLOAD_BYTES } from '../artifacts/session-files.js';
import type { OpenFile } from '../ports/artifacts.js';
import type { Joined } from '../ports/joined.js';
import { newSessionId } from '../sessions/index.js';
import { assertOwner, ownerOf } from './batch-owner.js';
import { noteOf, type ResultNodes, ResultZips, zipOf } from './result-zips.js';
import { batchRow, type StoredBatch } from './stored-batch.js';

/** How soon a machine that gets no job asks again, in seconds. */
const RETRY_AFTER_S = 2;
/** No client can send this as a key of its own: headers have no line ends. */
const BUILD_KEY = 'join\n';

export interface JoinedBatchesParts {
  readonly journal: Journal;
  readonly config: Pick<Config, 'batchesDir'>;
  readonly clock: Clock;
  /** Null if this service is alone. */
  readonly nodes: ResultNodes | null;
  /** @throws NOT_FOUND */
  find(id: string): Promise<StoredBatch>;
  record(batch: StoredBatch): Promise<BatchRecord>;
}

/** A batch that machines join. */
type JoinedStored = StoredBatch & { readonly join: NonNullable<StoredBatch['join']> };

/**
 * See {@link Joined}. Everything but the artifacts is in the journal, so that a restart of the service loses nothing, and
 * every node answers the same.
 */
export class JoinedBatches implements Joined {
  readonly zips: ResultZips;
  readonly #parts: JoinedBatchesParts;

  constructor(parts: JoinedBatchesParts) {
    this.#parts = parts;
    this.zips = new ResultZips(parts);
  }

  async join(request: JoinRequest, caller: string): Promise<JoinedBatch> {
    const known = await this.#ofBuild(request, caller);
    if (known !== null) return { ...(await this.#parts.record(known)), created: false };
    const { build, hash, name = null, labels = {}, jobs } = request;
    const { journal } = this.#parts;
    const id = BatchId.parse(newSessionId());
    const batch: StoredBatch = {
      id,
      createdAt: (await this.now()).toISOString(),
      name,
      labels,
      parallel: null,
      total: jobs.length,
      after: journal.lastSeq(),
      cancelled: false,
      join: { build, hash, owner: ownerOf(caller) },
    };
    try {
      await journal.write({
        submissions: [{ key: `${BUILD_KEY}${build}`, sessionId: id, fingerprint: hash }],
        keyValues: [batchRow(batch)],
        joined: jobs.map(({ name, flow = null, retries = 0 }, job) => ({ batchId: id, job, name, flow, retries })),
      });
    } catch (error) {
      // Of two machines that come at the same moment, the journal refuses one.
      const other = await this.#ofBuild(request, caller);
      if (other === null) throw error;
      return { ...(await this.#parts.record(other)), created: false };
    }
    return { ...(await this.#parts.record(batch)), created: true };
  }

  async claim(id: string, request: ClaimRequest, caller: string): Promise<ClaimAnswer> {
    const batch = await this.#find(id);
    assertOwner({ id: batch.id, owner: batch.join.owner, what: `Build ${batch.join.build}` }, caller);
    const { machine = 'unnamed', lease = CLAIM_LEASE_S, token = randomBytes(18).toString('base64url') } = request;
    const claim = { batchId: batch.id, token, machine, leaseMs: lease * 1000, ...this.#now() };
    const number = await this.#parts.journal.changeJoined({ change: 'claim', ...claim });
    if (number === 0) {
      const { endedAt } = await this.#parts.record(batch);
      return endedAt === null ? { state: 'waiting', retryAfter: RETRY_AFTER_S } : { state: 'ended' };
    }
    const job = number > 0 ? (await this.#parts.journal.joinedJobs(batch.id, number - 1))[0] : undefined;
    if (job === undefined) throw lost();
    const { name, attempt, retries } = job;
    return { state: 'claimed', job: { name, attempt, retries }, token, lease };
  }

  async renew(id: string, token: string, leaseSeconds: number): Promise<RenewAnswer> {
    const { id: batchId } = await this.#find(id);
    const renewal = { batchId, token, leaseMs: leaseSeconds * 1000, ...this.#now() };
    if ((await this.#parts.journal.changeJoined({ change: 'renew', ...renewal })) === 0) throw lost();
    return { lease: leaseSeconds };
  }

  async storeArtifacts(id: string, token: string, content: Readable): Promise<number> {
    const { id: batchId } = await this.#find(id);
    const { journal } = this.#parts;
    await this.expire();
    const [claim] = await journal.joinedAttempts(batchId, { token });
    if (claim?.state !== 'running') throw lost();
    const zip = this.zips.next(claim);
    const file = this.zips.path(batchId, zip);
    await mkdir(dirname(file), { recursive: true });
    try {
      await pipeline(content, atMost(MAX_UPLOAD_BYTES), createWriteStream(`${file}.part`));
      await rename(`${file}.part`, file);
    } catch (error) {
      await rm(`${file}.part`, { force: true });
      throw error;
    }
    const { size } = await stat(file);
    const noted = await journal.changeJoined({
      change: 'artifacts',
      batchId,
      token,
      file: noteOf(zip),
      ...this.#now(),
    });
    if (noted === 0) {
      await rm(file, { force: true });
      throw lost();
    }
    if (claim.artifacts !== null) await this.zips.remove(batchId, zipOf(claim.artifacts));
    return size;
  }

  async finish(id: string, token: string, result: JoinedResult): Promise<void> {
    const { id: batchId } = await this.#find(id);
    const { state, durationMs } = result;
    const ended = await this.#parts.journal.changeJoined({
      change: 'end',
      batchId,
      token,
      state,
      mayPassAgain: state === 'failed' && result.mayPassAgain,
      data: JSON.stringify(result),
      outcome: result.outcome ?? null,
      durationMs,
      code: result.failure?.code ?? null,
      ...this.#now(),
    });
    if (ended === 0) throw lost();
  }

  async results(id: string): Promise<JoinedFlows> {
    const batch = await this.#find(id);
    await this.expire();
    const { journal } = this.#parts;
    // The record first: if it says that all have ended, what is read afterwards has all results.
    const { createdAt, endedAt } = await this.#parts.record(batch);
    const [jobs, attempts] = await Promise.all([journal.joinedJobs(batch.id), journal.joinedAttempts(batch.id)]);
    const byJob = new Map<number, JoinedAttempt[]>();
    for (const attempt of attempts) {
      const own = byJob.get(attempt.job);
      if (own === undefined) byJob.set(attempt.job, [attempt]);
      else own.push(attempt);
    }
    const flows = jobs.map(({ job, name, state }) => {
      const own = byJob.get(job) ?? [];
      const over = own.filter((attempt) => attempt.state === 'ended' || attempt.state === 'lost');
      return {
        name,
        state,
        machine: own.at(-1)?.machine ?? null,
        attempts: over.map((attempt) => attemptOf(batch.id, attempt)),
      };
    });
    return { createdAt, endedAt, flows };
  }

  async artifacts(id: string, name: string): Promise<OpenFile> {
    const { id: batchId } = await this.#find(id);
    return this.zips.open(batchId, name);
  }

  /** Ends claims and batches that have expired, so that what is read next is up to date. */
  async expire(): Promise<void> {
    const { journal } = this.#parts;
    for (let isAll = false; !isAll; ) {
      const now = this.#now();
      const batchIds = await journal.joinedDue(now.nowMs);
      if (batchIds.length > 0) await journal.changeJoined({ change: 'expire', batchIds, ...now });
      isAll = batchIds.length < DUE_AT_ONCE;
    }
  }

  /** The present by the clock that says when claims and batches have ended: of several nodes, by that of the database. */
  async now(): Promise<Date> {
    return new Date(await this.#parts.journal.joinedNow(this.#now().nowMs));
  }

  /** Stops all jobs that have not ended: their machines find out when they renew. */
  async stop(batchId: BatchId): Promise<void> {
    await this.#parts.journal.changeJoined({ change: 'stop', batchId, ...this.#now() });
  }

  async #ofBuild({ build, hash }: JoinRequest, caller: string): Promise<StoredBatch | null> {
    const known = await this.#parts.journal.submission(`${BUILD_KEY}${build}`);
    if (known === null) return null;
    const batch = await this.#find(known.sessionId);
    assertOwner({ id: batch.id, owner: batch.join.owner, what: `Build ${batch.join.build}` }, caller);
    if (known.fingerprint === hash) return batch;
    const message = `build ${build} was begun with other flows (${known.fingerprint}, not ${hash})`;
    throw new TroupeError(
      'INVALID_REQUEST',
      `"hash": ${message}: all machines need the same files and options, and each build a name of its own`,
      { issues: [{ path: 'hash', message }] },
    );
  }

  /** @throws NOT_FOUND, also for a batch that is not a joined one */
  async #find(id: string): Promise<JoinedStored> {
    const batch = await this.#parts.find(id);
    const { join } = batch;
    if (join !== undefined) return { ...batch, join };
    throw new TroupeError('NOT_FOUND', `The service runs the jobs of batch ${id} itself; there is nothing to claim`);
  }

  #now(): { readonly nowMs: number; readonly at: string } {
    const now = this.#parts.clock.now();
    return { nowMs: now.getTime(), at: now.toISOString() };
  }
}

function attemptOf(batchId: string, { attempt, machine, state, data, artifacts }: JoinedAttempt) {
  return {
    attempt,
    machine,
    result: data === null ? null : JoinedResult.parse(JSON.parse(data)),
    artifacts:
      artifacts === null || state !== 'ended' ? null : `/api/batches/${batchId}/results/${zipOf(artifacts).name}`,
  };
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
    'The claim has ended, or its batch was stopped: the flow is no longer this machine’s, and nothing was changed',
  );
}
