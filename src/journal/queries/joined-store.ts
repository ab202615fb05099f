import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../dialect.js';
import type {
  JoinedArtifacts,
  JoinedAttempt,
  JoinedClaim,
  JoinedEnd,
  JoinedJob,
  JoinedRow,
  JoinedStop,
} from '../messages.js';
import type { Schema } from '../schema.js';

/** Rows of one insert: a row has eleven values, and both databases bound the parameters of a statement. */
const ROWS_AT_ONCE = 500;

/**
 * Jobs of joined batches, which machines claim. Each change first ends what has expired, and checks the claim's token, in
 * the caller's transaction: what is written under an old token changes nothing.
 */
export class JoinedStore {
  readonly #kysely: Kysely<Schema>;
  readonly #dialect: Dialect;

  constructor(kysely: Kysely<Schema>, dialect: Dialect) {
    this.#kysely = kysely;
    this.#dialect = dialect;
  }

  async insert(rows: readonly JoinedRow[]): Promise<void> {
    for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
      await this.#kysely
        .insertInto('joined_jobs')
        .values(
          rows.slice(start, start + ROWS_AT_ONCE).map(({ batchId, job, name, place, retries }) => ({
            batch_id: batchId,
            job,
            name,
            place,
            retries,
            state: 'queued' as const,
            attempt: 0,
            token: null,
            machine: null,
            expires_at: null,
            ended_at: null,
            artifact_node: null,
            artifact_bytes: null,
          })),
        )
        .execute();
    }
  }

  /** Claims the next job. @returns its number from 1; 0 if none waits */
  async claim({ batchId, token, machine, leaseMs, at }: JoinedClaim): Promise<number> {
    await this.sweep(batchId, at);
    // A machine whose answer was lost on its way asks again.
    const own = await this.#kysely
      .selectFrom('joined_jobs')
      .select('job')
      .where('batch_id', '=', batchId)
      .where('token', '=', token)
      .where('state', '=', 'running')
      .executeTakeFirst();
    if (own !== undefined) return own.job + 1;
    const next = await this.#kysely
      .selectFrom('joined_jobs')
      .select(['job', 'attempt'])
      .where('batch_id', '=', batchId)
      .where('state', '=', 'queued')
      .orderBy('place')
      .limit(1)
      .$call((query) => (this.#dialect.locksRows ? query.forUpdate().skipLocked() : query))
      .executeTakeFirst();
    if (next === undefined) return 0;
    await this.#kysely
      .updateTable('joined_jobs')
      .set({
        state: 'running',
        attempt: next.attempt + 1,
        token,
        machine,
        expires_at: sql<number>`${this.#dialect.now} + ${sql.lit(leaseMs)}`,
        artifact_node: null,
        artifact_bytes: null,
      })
      .where('batch_id', '=', batchId)
      .where('job', '=', next.job)
      .execute();
    return next.job + 1;
  }

  /** @returns 1 if the token is still the claim's, else 0 */
  async renew({ batchId, token, leaseMs, at }: Omit<JoinedClaim, 'machine'>): Promise<number> {
    await this.sweep(batchId, at);
    const { numUpdatedRows } = await this.#kysely
      .updateTable('joined_jobs')
      .set({ expires_at: sql<number>`${this.#dialect.now} + ${sql.lit(leaseMs)}` })
      .where('batch_id', '=', batchId)
      .where('token', '=', token)
      .where('state', '=', 'running')
      .executeTakeFirst();
    return Number(numUpdatedRows);
  }

  /** Notes that artifacts were stored under a claim. @returns 1 if the token is still the claim's, else 0 */
  async noteArtifacts({ batchId, token, at, node, bytes }: JoinedArtifacts): Promise<number> {
    await this.sweep(batchId, at);
    const { numUpdatedRows } = await this.#kysely
      .updateTable('joined_jobs')
      .set({ artifact_node: node, artifact_bytes: bytes })
      .where('batch_id', '=', batchId)
      .where('token', '=', token)
      .where('state', '=', 'running')
      .executeTakeFirst();
    return Number(numUpdatedRows);
  }

  /** Ends a claim with its result. @returns 1 if the token was still the claim's, else 0 */
  async end(end: JoinedEnd): Promise<number> {
    const { batchId, token, at } = end;
    await this.sweep(batchId, at);
    const job = await this.#kysely
      .selectFrom('joined_jobs')
      .select(['job', 'attempt', 'retries', 'machine', 'name', 'artifact_node', 'artifact_bytes'])
      .where('batch_id', '=', batchId)
      .where('token', '=', token)
      .where('state', '=', 'running')
      .$call((query) => (this.#dialect.locksRows ? query.forUpdate() : query))
      .executeTakeFirst();
    if (job === undefined) return 0;
    const again = end.mayPassAgain && job.attempt <= job.retries;
    await this.#settle(batchId, job.job, token, again ? 'queued' : end.state, at);
    await this.#attempt(batchId, {
      ...job,
      id: end.id,
      node: job.artifact_node,
      data: end.data,
      bytes: job.artifact_bytes,
    });
    if (end.state === 'stopped') return 1;
    await this.#kysely
      .insertInto('flow_runs')
      .values({
        seq: end.runSeq,
        flow: job.name,
        session_id: `${batchId}/${job.job}`,
        at,
        status: end.state === 'completed' ? 'passed' : 'failed',
        duration_ms: end.durationMs,
        commit_id: end.commit,
        branch: end.branch,
      })
      .execute();
    return 1;
  }

  /** Stops what has not ended. Tokens are void from here on. */
  async stop({ batchId, at }: JoinedStop): Promise<number> {
    await this.#kysely
      .updateTable('joined_jobs')
      .set({ state: 'stopped', token: null, ended_at: at })
      .where('batch_id', '=', batchId)
      .where('state', 'in', ['queued', 'running'])
      .execute();
    return 0;
  }

  /** Ends claims that were not renewed: their jobs are queued again if they have retries left, else they have failed. */
  async sweep(batchId: string, at: string): Promise<number> {
    const expired = await this.#kysely
      .selectFrom('joined_jobs')
      .select(['job', 'attempt', 'retries', 'machine', 'token'])
      .where('batch_id', '=', batchId)
      .where('state', '=', 'running')
      .where('expires_at', '<=', this.#dialect.now)
      .$call((query) => (this.#dialect.locksRows ? query.forUpdate().skipLocked() : query))
      .execute();
    for (const job of expired) {
      await this.#settle(batchId, job.job, job.token ?? '', job.attempt <= job.retries ? 'queued' : 'failed', at);
      await this.#attempt(batchId, {
        ...job,
        id: `${batchId}/${job.job}/${job.attempt}`,
        node: null,
        data: null,
        bytes: null,
      });
    }
    return 0;
  }

  async jobs(batchId: string): Promise<readonly JoinedJob[]> {
    return this.#kysely
      .selectFrom('joined_jobs')
      .select(['job', 'name', 'state', 'attempt', 'retries', 'token', 'machine'])
      .where('batch_id', '=', batchId)
      .orderBy('job')
      .execute();
  }

  /** The job that was claimed with a token, while the claim holds. */
  async ofToken(batchId: string, token: string): Promise<readonly JoinedJob[]> {
    return this.#kysely
      .selectFrom('joined_jobs')
      .select(['job', 'name', 'state', 'attempt', 'retries', 'token', 'machine'])
      .where('batch_id', '=', batchId)
      .where('token', '=', token)
      .where('state', '=', 'running')
      .where('expires_at', '>', this.#dialect.now)
      .execute();
  }

  async attempts(batchId: string): Promise<readonly JoinedAttempt[]> {
    return this.#attempts().where('batch_id', '=', batchId).orderBy('job').orderBy('attempt').execute();
  }

  async attemptOf(id: string): Promise<readonly JoinedAttempt[]> {
    return this.#attempts().where('id', '=', id).execute();
  }

  async remove(batchIds: readonly string[]): Promise<void> {
    await this.#kysely.deleteFrom('joined_jobs').where('batch_id', 'in', batchIds).execute();
    await this.#kysely.deleteFrom('joined_attempts').where('batch_id', 'in', batchIds).execute();
  }

  #attempts() {
    return this.#kysely
      .selectFrom('joined_attempts')
      .select([
        'id',
        'batch_id as batchId',
        'job',
        'attempt',
        'machine',
        'node',
        'data',
        'artifact_bytes as artifactBytes',
      ]);
  }

  async #settle(
    batchId: string,
    job: number,
    token: string,
    state: 'queued' | 'completed' | 'failed' | 'stopped',
    at: string,
  ): Promise<void> {
    await this.#kysely
      .updateTable('joined_jobs')
      .set({ state, token: null, expires_at: null, ended_at: state === 'queued' ? null : at })
      .where('batch_id', '=', batchId)
      .where('job', '=', job)
      .where('token', '=', token)
      .execute();
  }

  async #attempt(
    batchId: string,
    of: {
      readonly id: string;
      readonly job: number;
      readonly attempt: number;
      readonly machine: string | null;
      readonly node: string | null;
      readonly data: string | null;
      readonly bytes: number | null;
    },
  ): Promise<void> {
    await this.#kysely
      .insertInto('joined_attempts')
      .values({
        id: of.id,
        batch_id: batchId,
        job: of.job,
        attempt: of.attempt,
        machine: of.machine ?? '',
        node: of.node,
        data: of.data,
        artifact_bytes: of.bytes,
      })
      .execute();
  }
}
