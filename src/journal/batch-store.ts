import { type CompiledQuery, type Kysely, sql } from 'kysely';
import type Database from 'libsql';
import type { BatchCounts, OpenBatch } from './messages.js';
import type { Schema } from './schema.js';

/** A message's id begins with its session's. */
const SESSION_OF_WEBHOOK = sql<string>`substr(id, 1, instr(id, '/') - 1)`;

/** What concerns the sessions of a batch together. Lives on the journal's thread; writes are part of the transaction that is open. */
export class BatchStore {
  readonly #database: Database.Database;
  readonly #kysely: Kysely<Schema>;

  constructor(database: Database.Database, kysely: Kysely<Schema>) {
    this.#database = database;
    this.#kysely = kysely;
  }

  /** With its sessions and all that is known of them. */
  remove(id: string): void {
    const kysely = this.#kysely;
    const own = kysely.selectFrom('sessions').select('id').where('batch', '=', id);
    this.#run(kysely.deleteFrom('events').where('session_id', 'in', own));
    this.#run(
      kysely.deleteFrom('submissions').where((of) => of.or([of('session_id', '=', id), of('session_id', 'in', own)])),
    );
    this.#run(this.#webhooks().where(SESSION_OF_WEBHOOK, 'in', own));
    this.#run(kysely.deleteFrom('sessions').where('batch', '=', id));
    this.#run(kysely.deleteFrom('kept').where('kind', '=', 'batch').where('id', '=', id));
  }

  /** Batches that came before an instant and have no session left. */
  forget(before: string): void {
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

  /** Messages of webhooks whose session is gone: one that was on its way when that was removed is noted after it. */
  forgetWebhooks(): void {
    this.#run(this.#webhooks().where(SESSION_OF_WEBHOOK, 'not in', this.#kysely.selectFrom('sessions').select('id')));
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

  /** Sessions of the batch that had ended by a sequence number. */
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

  /** At once, as a part of the transaction that is open: Kysely itself only runs things later. */
  #run(query: { compile(): CompiledQuery }): void {
    const { sql: text, parameters } = query.compile();
    this.#database.prepare(text).run([...parameters]);
  }
}
