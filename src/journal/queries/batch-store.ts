import { type Kysely, sql } from 'kysely';
import { TroupeError } from '../../protocol/errors.js';
import type { Dialect } from '../dialect.js';
import type { BatchCounts, BatchQuery, BatchRow, OpenBatch, PruneBefore } from '../messages.js';
import { storable } from '../rows.js';
import type { Schema } from '../schema.js';
import { JoinedStore } from './joined-store.js';
import { SuiteStore } from './suite-store.js';

/** Values in one `in` list: both databases bound the parameters of a statement. */
const IDS_AT_ONCE = 500;

const NO_SESSIONS: BatchCounts = { counts: {}, flaky: 0, skipped: 0, repaired: 0, endedAt: null, suite: null };

/** Queries and deletions that concern whole batches. Deletions belong in a transaction, which the caller opens. */
export class BatchStore {
  readonly #kysely: Kysely<Schema>;
  readonly #dialect: Dialect;

  constructor(kysely: Kysely<Schema>, dialect: Dialect) {
    this.#kysely = kysely;
    this.#dialect = dialect;
  }

  /** Removes a batch, its sessions, and all their rows. */
  async remove(id: string): Promise<void> {
    const kysely = this.#kysely;
    const own = kysely.selectFrom('sessions').select('id').where('batch', '=', id);
    const webhookOf = this.#idInWebhook();
    await kysely.deleteFrom('events').where('session_id', 'in', own).execute();
    await this.#webhooks()
      .where((of) => of.or([of(webhookOf, '=', id), of(webhookOf, 'in', own)]))
      .execute();
    await kysely.deleteFrom('kept').where('kind', 'in', ['value', 'job-files']).where('id', 'in', own).execute();
    await kysely.deleteFrom('submissions').where('session_id', 'in', own).execute();
    await kysely.deleteFrom('requests').where('session_id', 'in', own).execute();
    await kysely.deleteFrom('session_labels').where('session_id', 'in', own).execute();
    await kysely.deleteFrom('sessions').where('batch', '=', id).execute();
    await this.#removeRows([id]);
  }

  /** Removes old batches that have no sessions left, and old ones whose jobs or tests ran elsewhere. */
  async removeEmpty({ batchesBefore, joinedBefore }: Omit<PruneBefore, 'runsBefore'>): Promise<void> {
    const kysely = this.#kysely;
    const used = kysely
      .selectFrom('sessions')
      .select('batch')
      .where('batch', 'is not', null)
      .$narrowType<{ batch: string }>();
    const empty = await kysely
      .selectFrom('batches')
      .select('id')
      .where('created_at', '<', batchesBefore)
      .where('id', 'not in', used)
      .where((of) =>
        of.or([
          of('created_at', '<', joinedBefore),
          of.and([
            of('id', 'not in', kysely.selectFrom('joined_jobs').select('batch_id')),
            of('id', 'not in', kysely.selectFrom('kept').select('id').where('kind', '=', 'suite-run')),
          ]),
        ]),
      )
      .execute();
    for (let start = 0; start < empty.length; start += IDS_AT_ONCE) {
      await this.#removeRows(empty.slice(start, start + IDS_AT_ONCE).map(({ id }) => id));
    }
  }

  /**
   * Removes webhook messages whose session or batch is gone. A message in flight while its session is removed is stored
   * after that.
   */
  async removeOrphanedWebhooks(): Promise<void> {
    const webhookOf = this.#idInWebhook();
    await this.#webhooks()
      .where(webhookOf, 'not in', this.#kysely.selectFrom('sessions').select('id'))
      .where(webhookOf, 'not in', this.#kysely.selectFrom('batches').select('id'))
      .execute();
  }

  async open(): Promise<readonly OpenBatch[]> {
    const rows = await this.#kysely
      .selectFrom('sessions')
      .select(['batch', ({ fn }) => fn.countAll<number>().as('sessions')])
      .where('status', 'in', ['queued', 'running'])
      .where('batch', 'is not', null)
      .groupBy('batch')
      .execute();
    return rows.flatMap(({ batch, sessions }) => (batch === null ? [] : [{ id: batch, sessions: Number(sessions) }]));
  }

  async count(id: string): Promise<BatchCounts> {
    return (await this.#counts([id])).get(id) ?? NO_SESSIONS;
  }

  /** @throws INVALID_REQUEST if no batch has the id `before` (any more) */
  async page({ limit, before, name, labels }: BatchQuery): Promise<readonly BatchRow[]> {
    const kysely = this.#kysely;
    let select = kysely
      .selectFrom('batches')
      .innerJoin('kept', (join) => join.onRef('kept.id', '=', 'batches.id').on('kept.kind', '=', 'batch'))
      .select(['batches.id', 'kept.data'])
      .orderBy('batches.created_at', 'desc')
      .orderBy('batches.id', 'desc')
      .limit(limit);
    if (name !== undefined) select = select.where('batches.name', '=', storable(name));
    for (const label of labels ?? []) {
      let labelled = kysely.selectFrom('batch_labels').select('batch_id').where('name', '=', storable(label.name));
      if (label.value !== null) labelled = labelled.where('value', '=', storable(label.value));
      select = select.where('batches.id', 'in', labelled);
    }
    if (before !== undefined) {
      const from = await kysely.selectFrom('batches').select('created_at').where('id', '=', before).executeTakeFirst();
      if (from === undefined) {
        const message = 'there is no such batch';
        throw new TroupeError('INVALID_REQUEST', `"before": ${message}`, { issues: [{ path: 'before', message }] });
      }
      select = select.where((where) =>
        where(where.refTuple('batches.created_at', 'batches.id'), '<', where.tuple(from.created_at, before)),
      );
    }
    const rows = await select.execute();
    const counts = new Map<string, BatchCounts>();
    for (let start = 0; start < rows.length; start += IDS_AT_ONCE) {
      const ids = rows.slice(start, start + IDS_AT_ONCE).map(({ id }) => id);
      for (const [id, ofBatch] of await this.#counts(ids)) counts.set(id, ofBatch);
    }
    return rows.map((row) => ({ ...row, ...(counts.get(row.id) ?? NO_SESSIONS) }));
  }

  /** How many sessions of the batch had ended at sequence number `upTo`. */
  async ends(id: string, upTo: number): Promise<number> {
    const own = this.#kysely.selectFrom('sessions').select('id').where('batch', '=', id);
    const row = await this.#kysely
      .selectFrom('events')
      .select(({ fn }) => fn.countAll<number>().as('ends'))
      .where('session_id', 'in', own)
      .where('type', '=', 'SessionEnded')
      .where('seq', '<=', upTo)
      .executeTakeFirstOrThrow();
    return Number(row.ends);
  }

  async #counts(ids: readonly string[]): Promise<ReadonlyMap<string, BatchCounts>> {
    const rows = await this.#kysely
      .selectFrom('sessions')
      .select([
        'batch',
        'status',
        ({ fn }) => fn.countAll<number>().as('sessions'),
        sql<number>`sum(case when attempt > 1 and outcome is null then 1 else 0 end)`.as('retried'),
        sql<number>`sum(case when outcome = 'skipped' then 1 else 0 end)`.as('skipped'),
        sql<number>`sum(case when outcome = 'repaired' then 1 else 0 end)`.as('repaired'),
        ({ fn }) => fn.max('ended_at').as('endedAt'),
      ])
      .where('batch', 'in', ids)
      .groupBy(['batch', 'status'])
      .execute();
    const joined = await this.#kysely
      .selectFrom('joined_jobs')
      .select([
        'batch_id as batch',
        'state as status',
        ({ fn }) => fn.countAll<number>().as('sessions'),
        sql<number>`sum(case when attempt > 1 and outcome is null then 1 else 0 end)`.as('retried'),
        sql<number>`sum(case when outcome = 'skipped' then 1 else 0 end)`.as('skipped'),
        sql<number>`sum(case when outcome = 'repaired' then 1 else 0 end)`.as('repaired'),
        ({ fn }) => fn.max('ended_at').as('endedAt'),
      ])
      .where('batch_id', 'in', ids)
      .groupBy(['batch_id', 'state'])
      .execute();
    const byBatch = new Map<string | null, StatusRow[]>();
    for (const row of [...rows, ...joined]) byBatch.set(row.batch, [...(byBatch.get(row.batch) ?? []), row]);
    const suites = await new SuiteStore(this.#kysely, this.#dialect).runs(ids);
    return new Map(
      ids.map((id) => {
        const suite = suites.get(id);
        if (suite === undefined) return [id, countsOf(byBatch.get(id) ?? [])];
        const { counts, flaky, endedAt, state, isWhole } = suite;
        return [id, { counts, flaky, skipped: 0, repaired: 0, endedAt, suite: { state, isWhole } }];
      }),
    );
  }

  async #removeRows(ids: readonly string[]): Promise<void> {
    const kysely = this.#kysely;
    // Otherwise another node could add a claim to what is being removed.
    if (this.#dialect.isShared) await lockBatches(kysely, ids);
    await kysely.deleteFrom('submissions').where('session_id', 'in', ids).execute();
    const kinds = ['batch', 'batch-flows', 'batch-jobs', 'job-files'] as const;
    await kysely.deleteFrom('kept').where('kind', 'in', kinds).where('id', 'in', ids).execute();
    await new JoinedStore(kysely, this.#dialect).remove(ids);
    await new SuiteStore(kysely, this.#dialect).remove(ids);
    await kysely.deleteFrom('batch_labels').where('batch_id', 'in', ids).execute();
    await kysely.deleteFrom('batches').where('id', 'in', ids).execute();
  }

  #webhooks() {
    return this.#kysely.deleteFrom('kept').where('kind', 'in', ['delivery', 'delivered']);
  }

  /** The session's or batch's id at the start of a webhook message's id. */
  #idInWebhook() {
    const id = sql.ref<string>('id');
    return sql<string>`substr(${id}, 1, ${this.#dialect.position(id, '/')} - 1)`;
  }
}

/**
 * Locks batches until the commit, if several nodes share the database: always in the order of their ids, so that no two
 * nodes wait for each other.
 */
export async function lockBatches(kysely: Kysely<Schema>, ids: readonly string[]): Promise<void> {
  await kysely.selectFrom('batches').select('id').where('id', 'in', ids).orderBy('id').forUpdate().execute();
}

interface StatusRow {
  readonly status: string;
  readonly sessions: number;
  readonly retried: number;
  readonly skipped: number;
  readonly repaired: number;
  readonly endedAt: string | null;
}

function countsOf(rows: readonly StatusRow[]): BatchCounts {
  const counts = Object.fromEntries(rows.map(({ status, sessions }) => [status, Number(sessions)]));
  const ends = rows.flatMap(({ endedAt }) => endedAt ?? []).sort();
  const completed = rows.filter(({ status }) => status === 'completed');
  const sum = (of: 'retried' | 'skipped' | 'repaired') => completed.reduce((total, row) => total + Number(row[of]), 0);
  return {
    counts,
    flaky: sum('retried'),
    skipped: sum('skipped'),
    repaired: sum('repaired'),
    endedAt: (counts.queued ?? 0) + (counts.running ?? 0) > 0 ? null : (ends.at(-1) ?? null),
    suite: null,
  };
}
