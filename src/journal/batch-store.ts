import { type CompiledQuery, type Kysely, sql } from 'kysely';
import type Database from 'libsql';
import { TroupeError } from '../protocol/errors.js';
import type { BatchCounts, BatchQuery, BatchRow, OpenBatch } from './messages.js';
import type { Schema } from './schema.js';

/** The session's or batch's id at the start of a webhook message's id. */
const SESSION_OF_WEBHOOK = sql<string>`substr(id, 1, instr(id, '/') - 1)`;

const NO_SESSIONS: BatchCounts = { counts: {}, flaky: 0, endedAt: null };

/** Queries and deletions that concern whole batches. Runs on the journal's thread; writes join the open transaction. */
export class BatchStore {
  readonly #database: Database.Database;
  readonly #kysely: Kysely<Schema>;

  constructor(database: Database.Database, kysely: Kysely<Schema>) {
    this.#database = database;
    this.#kysely = kysely;
  }

  /** Removes a batch, its sessions, and all their rows. */
  remove(id: string): void {
    const kysely = this.#kysely;
    const own = kysely.selectFrom('sessions').select('id').where('batch', '=', id);
    this.#run(kysely.deleteFrom('events').where('session_id', 'in', own));
    this.#run(
      kysely.deleteFrom('submissions').where((of) => of.or([of('session_id', '=', id), of('session_id', 'in', own)])),
    );
    this.#run(
      this.#webhooks().where((of) => of.or([of(SESSION_OF_WEBHOOK, '=', id), of(SESSION_OF_WEBHOOK, 'in', own)])),
    );
    this.#run(kysely.deleteFrom('kept').where('kind', '=', 'value').where('id', 'in', own));
    this.#run(kysely.deleteFrom('sessions').where('batch', '=', id));
    this.#run(kysely.deleteFrom('kept').where('kind', '=', 'batch').where('id', '=', id));
  }

  /** Removes batches that were created before `before` and have no sessions left. */
  removeEmpty(before: string): void {
    const kysely = this.#kysely;
    const used = kysely
      .selectFrom('sessions')
      .select('batch')
      .where('batch', 'is not', null)
      .$narrowType<{ batch: string }>();
    const empty = kysely
      .selectFrom('kept')
      .select('id')
      .where('kind', '=', 'batch')
      .where(sql<string>`data ->> 'createdAt'`, '<', before)
      .where('id', 'not in', used);
    this.#run(kysely.deleteFrom('submissions').where('session_id', 'in', empty));
    this.#run(kysely.deleteFrom('kept').where('kind', '=', 'batch').where('id', 'in', empty));
  }

  /**
   * Removes webhook messages whose session or batch is gone. A message in flight while its session is removed is stored
   * after that.
   */
  removeOrphanedWebhooks(): void {
    const batches = this.#kysely.selectFrom('kept').select('id').where('kind', '=', 'batch');
    this.#run(
      this.#webhooks()
        .where(SESSION_OF_WEBHOOK, 'not in', this.#kysely.selectFrom('sessions').select('id'))
        .where(SESSION_OF_WEBHOOK, 'not in', batches),
    );
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
    const createdAt = sql<string>`data ->> 'createdAt'`;
    let select = this.#kysely
      .selectFrom('kept')
      .select(['id', 'data'])
      // As in the condition of the index `batches_by_time`: with a bound value it would not be used.
      .where(sql<boolean>`kind = 'batch'`)
      .orderBy(createdAt, 'desc')
      .orderBy('id', 'desc')
      .limit(limit);
    if (name !== undefined) select = select.where(sql`data ->> 'name'`, '=', name);
    for (const label of labels ?? []) {
      const same = label.value === null ? sql`` : sql`and value = ${label.value}`;
      select = select.where(
        sql<boolean>`exists (select 1 from json_each(data, '$.labels') where key = ${label.name} ${same})`,
      );
    }
    if (before !== undefined) {
      const from = await this.#kysely
        .selectFrom('kept')
        .select(createdAt.as('at'))
        .where('kind', '=', 'batch')
        .where('id', '=', before)
        .executeTakeFirst();
      if (from === undefined) {
        const message = 'there is no such batch';
        throw new TroupeError('INVALID_REQUEST', `"before": ${message}`, { issues: [{ path: 'before', message }] });
      }
      select = select.where(sql<boolean>`(data ->> 'createdAt', id) < (${from.at}, ${before})`);
    }
    const rows = await select.execute();
    const counts = await this.#counts(rows.map(({ id }) => id));
    return rows.map((row) => ({ ...row, ...(counts.get(row.id) ?? NO_SESSIONS) }));
  }

  /** How many sessions of the batch had ended at sequence number `upTo`. */
  async ends(id: string, upTo: number): Promise<number> {
    const row = await this.#kysely
      .selectFrom('events')
      .select(({ fn }) => fn.countAll<number>().as('ends'))
      .where('type', '=', 'SessionEnded')
      .where('seq', '<=', upTo)
      .where('session_id', 'in', (of) => of.selectFrom('sessions').select('id').where('batch', '=', id))
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
        sql<number>`sum(record ->> 'attempt' > 1)`.as('retried'),
        sql<string | null>`max(record ->> 'endedAt')`.as('endedAt'),
      ])
      .where('batch', 'in', ids)
      .groupBy(['batch', 'status'])
      .execute();
    return new Map(ids.map((id) => [id, countsOf(rows.filter(({ batch }) => batch === id))]));
  }

  #webhooks() {
    return this.#kysely.deleteFrom('kept').where('kind', 'in', ['delivery', 'delivered']);
  }

  /** Runs a query synchronously, inside the open transaction. Kysely's own `execute` is asynchronous. */
  #run(query: { compile(): CompiledQuery }): void {
    const { sql: text, parameters } = query.compile();
    this.#database.prepare(text).run([...parameters]);
  }
}

interface StatusRow {
  readonly status: string;
  readonly sessions: number;
  readonly retried: number;
  readonly endedAt: string | null;
}

function countsOf(rows: readonly StatusRow[]): BatchCounts {
  const counts = Object.fromEntries(rows.map(({ status, sessions }) => [status, Number(sessions)]));
  const ends = rows.flatMap(({ endedAt }) => endedAt ?? []).sort();
  return {
    counts,
    flaky: Number(rows.find(({ status }) => status === 'completed')?.retried ?? 0),
    endedAt: (counts.queued ?? 0) + (counts.running ?? 0) > 0 ? null : (ends.at(-1) ?? null),
  };
}
