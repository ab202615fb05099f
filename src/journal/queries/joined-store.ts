import { randomInt } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { assertNever } from '../../base/assert-never.js';
import type { Dialect } from '../dialect.js';
import {
  batchesOf,
  DUE_AT_ONCE,
  type JoinedArtifacts,
  type JoinedAttempt,
  type JoinedChange,
  type JoinedClaim,
  type JoinedEnd,
  type JoinedJob,
  type JoinedRenewal,
  type JoinedSelection,
  type Now,
} from '../joined-changes.js';
import { storable } from '../rows.js';
import type { Schema } from '../schema.js';

/** States as literals, without which a partial index is not used. */
const QUEUED = sql.lit<'queued'>('queued');
const RUNNING = sql.lit<'running'>('running');

/** A batch that no machine has asked about for so long ends, in milliseconds: nobody runs what is left of it. */
const ABANDONED_MS = 3_600_000;
/** Numbers of flow runs that nodes choose among. */
const RUN_NUMBERS = 2 ** 47;
/** The value of a claim whose token has been used before. */
export const TOKEN_USED = -1;

/**
 * Jobs of joined batches, which machines claim. Each change first ends what has expired, and then checks the claim's token,
 * in the caller's transaction: what is written under an old token changes nothing. If several nodes share the database,
 * changes of a batch are made one after the other: see `lockJoined`.
 */
export class JoinedStore {
  readonly #kysely: Kysely<Schema>;
  readonly #dialect: Pick<Dialect, 'isShared'>;

  constructor(kysely: Kysely<Schema>, dialect: Pick<Dialect, 'isShared'>) {
    this.#kysely = kysely;
    this.#dialect = dialect;
  }

  /**
   * @returns the number of a claimed job from 1, 0 if none waits, or {@link TOKEN_USED}; of other changes 1 if the token is
   *   that of a claim that holds, else 0
   */
  async change(asked: JoinedChange): Promise<number> {
    const change = { ...asked, ...(await this.#present(asked)) };
    await this.#expire(change, batchesOf(change));
    switch (change.change) {
      case 'claim':
        return this.#claim(change);
      case 'renew':
        return this.#renew(change);
      case 'artifacts':
        return this.#noteArtifacts(change);
      case 'end':
        return this.#end(change);
      case 'stop':
        await this.#stopJobs([change.batchId], change.at);
        return 1;
      case 'expire':
        return 1;
      default:
        return assertNever(change);
    }
  }

  /** Batches with something that has expired, and that {@link change} is to end: at most {@link DUE_AT_ONCE}. */
  async due(nowMs: number): Promise<readonly string[]> {
    const present = await this.now(nowMs);
    const expired = await this.#expired(present);
    const due = new Set([...expired.map(({ batch_id }) => batch_id), ...(await this.#abandoned(present))]);
    return [...due].slice(0, DUE_AT_ONCE);
  }

  /**
   * The present by the clock that leases are measured with, in milliseconds since 1970.
   * @param nowMs by the service's clock, which it is unless several nodes share the database
   */
  async now(nowMs: number): Promise<number> {
    if (!this.#dialect.isShared) return nowMs;
    const clock = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`;
    const { now } = await this.#kysely.selectNoFrom(clock.as('now')).executeTakeFirstOrThrow();
    return now;
  }

  /** The jobs of a batch, in order; of one number, if it is given. */
  async jobs(batchId: string, job?: number): Promise<readonly JoinedJob[]> {
    let select = this.#kysely
      .selectFrom('joined_jobs')
      .select(['job', 'name', 'state', 'attempt', 'retries'])
      .where('batch_id', '=', batchId)
      .orderBy('job');
    if (job !== undefined) select = select.where('job', '=', job);
    return select.execute();
  }

  /** The attempts at the jobs of a batch, by job and attempt: all, or the selected one. */
  async attempts(batchId: string, only?: JoinedSelection): Promise<readonly JoinedAttempt[]> {
    let select = this.#kysely
      .selectFrom('joined_attempts')
      .select(['job', 'attempt', 'machine', 'state', 'data', 'artifacts'])
      .where('batch_id', '=', batchId)
      .orderBy('job')
      .orderBy('attempt');
    if (only === undefined) return select.execute();
    if ('token' in only) select = select.where('token', '=', only.token);
    else {
      const { file } = only;
      select = select.where((of) => of.or([of('artifacts', '=', file), of('artifacts', 'like', `%/${file}`)]));
    }
    return select.execute();
  }

  async remove(batchIds: readonly string[]): Promise<void> {
    await this.#kysely.deleteFrom('joined_jobs').where('batch_id', 'in', batchIds).execute();
    await this.#kysely.deleteFrom('joined_attempts').where('batch_id', 'in', batchIds).execute();
  }

  async #claim({ batchId, token, machine, leaseMs, nowMs }: JoinedClaim): Promise<number> {
    const expires_at = nowMs + leaseMs;
    // A machine whose answer was lost asks again.
    const own = await this.#kysely
      .selectFrom('joined_attempts')
      .select(['job', 'state'])
      .where('batch_id', '=', batchId)
      .where('token', '=', token)
      .executeTakeFirst();
    if (own !== undefined) {
      if (own.state !== 'running') return TOKEN_USED;
      await this.#updateClaim(batchId, token, { expires_at });
      return own.job + 1;
    }
    const next = await this.#kysely
      .selectFrom('joined_jobs')
      .select(['job', 'attempt'])
      .where('batch_id', '=', batchId)
      .where('state', '=', QUEUED)
      .orderBy('job')
      .limit(1)
      .executeTakeFirst();
    if (next === undefined) return 0;
    const { job } = next;
    const attempt = next.attempt + 1;
    await this.#updateJob(batchId, job, { state: 'running', attempt });
    await this.#kysely
      .insertInto('joined_attempts')
      .values({ batch_id: batchId, job, attempt, token, machine: storable(machine), state: 'running', expires_at })
      .execute();
    return job + 1;
  }

  #renew({ batchId, token, leaseMs, nowMs }: JoinedRenewal): Promise<number> {
    return this.#updateClaim(batchId, token, { expires_at: nowMs + leaseMs });
  }

  #noteArtifacts({ batchId, token, file }: JoinedArtifacts): Promise<number> {
    return this.#updateClaim(batchId, token, { artifacts: file });
  }

  async #end({ batchId, token, at, state, mayPassAgain, data, outcome, durationMs, code }: JoinedEnd): Promise<number> {
    const claim = await this.#kysely
      .selectFrom('joined_attempts')
      .innerJoin('joined_jobs', (on) =>
        on
          .onRef('joined_jobs.batch_id', '=', 'joined_attempts.batch_id')
          .onRef('joined_jobs.job', '=', 'joined_attempts.job'),
      )
      .select(['joined_jobs.job', 'joined_jobs.flow', 'joined_jobs.retries', 'joined_attempts.attempt'])
      .select('joined_attempts.state')
      .where('joined_attempts.batch_id', '=', batchId)
      .where('joined_attempts.token', '=', token)
      .executeTakeFirst();
    // A machine whose answer was lost sends its result again.
    if (claim?.state === 'ended') return 1;
    if (claim?.state !== 'running') return 0;
    const { job, flow, retries, attempt } = claim;
    await this.#updateClaim(batchId, token, { state: 'ended', data });
    const isQueued = mayPassAgain && attempt <= retries;
    await this.#updateJob(batchId, job, isQueued ? { state: 'queued' } : { state, ended_at: at, outcome });
    if (flow === null || state === 'stopped' || outcome === 'skipped') return 1;
    await this.#kysely
      .insertInto('flow_runs')
      .values({
        seq: await this.#runNumber(),
        flow,
        session_id: `${batchId}/${job}`,
        at,
        status: state === 'completed' ? 'passed' : 'failed',
        duration_ms: durationMs,
        code: state === 'completed' || code === null ? null : storable(code),
      })
      .execute();
    return 1;
  }

  /** A number for a row of the history of flows. The other rows have the numbers of events; these are below 0. */
  async #runNumber(): Promise<number> {
    // Two nodes may end jobs of different batches at the same time.
    if (this.#dialect.isShared) return -1 - randomInt(RUN_NUMBERS);
    const { first } = await this.#kysely
      .selectFrom('flow_runs')
      .select(({ fn }) => fn.min('seq').as('first'))
      .executeTakeFirstOrThrow();
    return Math.min(0, Number(first ?? 0)) - 1;
  }

  async #present({ nowMs, at }: Now): Promise<Now> {
    if (!this.#dialect.isShared) return { nowMs, at };
    const present = await this.now(nowMs);
    return { nowMs: present, at: new Date(present).toISOString() };
  }

  /**
   * Ends the claims of batches that were not renewed: their jobs are queued again if they have retries left, else they have
   * failed.
   */
  async #expire({ nowMs, at }: Now, only: readonly string[]): Promise<void> {
    if (only.length === 0) return;
    for (const { batch_id, token, job, attempt, retries } of await this.#expired(nowMs, only)) {
      await this.#updateClaim(batch_id, token, { state: 'lost' });
      const isQueued = attempt <= retries;
      await this.#updateJob(batch_id, job, isQueued ? { state: 'queued' } : { state: 'failed', ended_at: at });
    }
    const abandoned = await this.#abandoned(nowMs, only);
    if (abandoned.length > 0) await this.#stopJobs(abandoned, at);
  }

  /** @param only the batches to look at; all if omitted */
  #expired(nowMs: number, only?: readonly string[]) {
    const select = this.#kysely
      .selectFrom('joined_attempts')
      .innerJoin('joined_jobs', (on) =>
        on
          .onRef('joined_jobs.batch_id', '=', 'joined_attempts.batch_id')
          .onRef('joined_jobs.job', '=', 'joined_attempts.job'),
      )
      .select(['joined_jobs.batch_id', 'joined_jobs.job', 'joined_jobs.retries', 'joined_attempts.attempt'])
      .select('joined_attempts.token')
      .where('joined_attempts.state', '=', RUNNING)
      .where('joined_attempts.expires_at', '<=', nowMs);
    return (only === undefined ? select : select.where('joined_attempts.batch_id', 'in', only)).execute();
  }

  /**
   * The batches with jobs that wait, and without a machine for {@link ABANDONED_MS}.
   * @param only the batches to look at; all if omitted
   */
  async #abandoned(nowMs: number, only?: readonly string[]): Promise<readonly string[]> {
    const since = nowMs - ABANDONED_MS;
    const batches = this.#kysely.selectFrom('batches').select('id');
    const queued = this.#kysely.selectFrom('joined_jobs').select('batch_id').where('state', '=', QUEUED);
    const waiting =
      only === undefined
        ? batches.where('id', 'in', queued.distinct())
        : batches
            .where('id', 'in', only)
            .where(({ exists, selectFrom }) =>
              exists(
                selectFrom('joined_jobs')
                  .select('job')
                  .whereRef('batch_id', '=', 'batches.id')
                  .where('state', '=', QUEUED),
              ),
            );
    const rows = await waiting
      .where('created_at', '<', new Date(since).toISOString())
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('joined_attempts')
              .select('attempt')
              .whereRef('batch_id', '=', 'batches.id')
              .where('expires_at', '>', since),
          ),
        ),
      )
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Stops what has not ended. The tokens are void from here on. */
  async #stopJobs(batchIds: readonly string[], at: string): Promise<void> {
    await this.#kysely
      .updateTable('joined_attempts')
      .set({ state: 'stopped' })
      .where('batch_id', 'in', batchIds)
      .where('state', '=', 'running')
      .execute();
    await this.#kysely
      .updateTable('joined_jobs')
      .set({ state: 'stopped', ended_at: at })
      .where('batch_id', 'in', batchIds)
      .where('state', 'in', ['queued', 'running'])
      .execute();
  }

  async #updateJob(
    batchId: string,
    job: number,
    values: Partial<Pick<Schema['joined_jobs'], 'state' | 'attempt' | 'ended_at' | 'outcome'>>,
  ): Promise<void> {
    await this.#kysely
      .updateTable('joined_jobs')
      .set(values)
      .where('batch_id', '=', batchId)
      .where('job', '=', job)
      .execute();
  }

  /** @returns 1 if the token is that of a claim that holds, else 0 */
  async #updateClaim(
    batchId: string,
    token: string,
    values: Partial<Pick<Schema['joined_attempts'], 'state' | 'expires_at' | 'data' | 'artifacts'>>,
  ): Promise<number> {
    const { numUpdatedRows } = await this.#kysely
      .updateTable('joined_attempts')
      .set(values)
      .where('batch_id', '=', batchId)
      .where('token', '=', token)
      .where('state', '=', 'running')
      .executeTakeFirst();
    return Number(numUpdatedRows);
  }
}
