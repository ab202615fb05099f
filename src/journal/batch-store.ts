import { type CompiledQuery, type Kysely, sql } from 'kysely';
import type Database from 'libsql';
import type { BatchCounts, OpenBatch } from './messages.js';
import type { Schema } from './schema.js';

/** The session's or batch's id at the start of a webhook message's id. */
const SESSION_OF_WEBHOOK = sql<string>`substr(id, 1, instr(id, '/') - 1)`;

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
    const rows = await this.#kysely
      .selectFrom('sessions')
      .select(['status', ({ fn }) => fn.countAll<number>().as('sessions')])
      .where('batch', '=', id)
      .groupBy('status')
      .execute();
    const counts = Object.fromEntries(rows.map(({ status, sessions }) => [status, Number(sessions)]));
    const open = (counts.queued ?? 0) + (counts.running ?? 0);
    return { counts, endedAt: open > 0 ? null : await this.#lastEnd(id) };
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

  async #lastEnd(id: string): Promise<string | null> {
    const row = await this.#kysely
      .selectFrom('sessions')
      .select(sql<string | null>`max(record ->> 'endedAt')`.as('at'))
      .where('batch', '=', id)
      .executeTakeFirst();
    return row?.at ?? null;
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
