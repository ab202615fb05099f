import { type Kysely, sql } from 'kysely';
import type Database from 'libsql';
import type { BatchCounts, OpenBatch } from './messages.js';
import type { Schema } from './schema.js';

const IS_WEBHOOK = "kind IN ('delivery', 'delivered')";
/** A message's id begins with its session's. */
const SESSION_OF_WEBHOOK = "substr(id, 1, instr(id, '/') - 1)";

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
    const own = 'SELECT id FROM sessions WHERE batch = ?';
    this.#run(`DELETE FROM events WHERE session_id IN (${own})`, [id]);
    this.#run(`DELETE FROM submissions WHERE session_id = ? OR session_id IN (${own})`, [id, id]);
    this.#run(`DELETE FROM kept WHERE ${IS_WEBHOOK} AND ${SESSION_OF_WEBHOOK} IN (${own})`, [id]);
    this.#run('DELETE FROM sessions WHERE batch = ?', [id]);
    this.#run("DELETE FROM kept WHERE kind = 'batch' AND id = ?", [id]);
  }

  /** Batches that came before an instant and have no session left. */
  forget(before: string): void {
    const empty = `SELECT id FROM kept WHERE kind = 'batch' AND data ->> 'createdAt' < ?
      AND id NOT IN (SELECT batch FROM sessions WHERE batch IS NOT NULL)`;
    this.#run(`DELETE FROM submissions WHERE session_id IN (${empty})`, [before]);
    this.#run(`DELETE FROM kept WHERE kind = 'batch' AND id IN (${empty})`, [before]);
  }

  /** Messages of webhooks whose session is gone: one that was on its way when that was removed is noted after it. */
  forgetWebhooks(): void {
    this.#run(`DELETE FROM kept WHERE ${IS_WEBHOOK} AND ${SESSION_OF_WEBHOOK} NOT IN (SELECT id FROM sessions)`, []);
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

  #run(text: string, values: readonly string[]): void {
    this.#database.prepare(text).run([...values]);
  }
}
