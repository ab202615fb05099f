import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../dialect.js';
import type { BatchCounts, OpenBatch } from '../messages.js';
import { parseJson } from '../rows.js';
import type { Schema } from '../schema.js';

/** Values in one `in` list: both databases bound the parameters of a statement. */
const IDS_AT_ONCE = 500;

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
    await kysely.deleteFrom('events').where('session_id', 'in', own).execute();
    await kysely
      .deleteFrom('submissions')
      .where((of) => of.or([of('session_id', '=', id), of('session_id', 'in', own)]))
      .execute();
    await this.#webhooks().where(this.#sessionOfWebhook(), 'in', own).execute();
    await kysely.deleteFrom('requests').where('session_id', 'in', own).execute();
    await kysely.deleteFrom('session_labels').where('session_id', 'in', own).execute();
    await kysely.deleteFrom('sessions').where('batch', '=', id).execute();
    await kysely.deleteFrom('kept').where('kind', '=', 'batch').where('id', '=', id).execute();
  }

  /** Removes batches that were created before `before` and have no sessions left. */
  async removeEmpty(before: string): Promise<void> {
    const kysely = this.#kysely;
    const used = kysely
      .selectFrom('sessions')
      .select('batch')
      .where('batch', 'is not', null)
      .$narrowType<{ batch: string }>();
    const empty = await kysely
      .selectFrom('kept')
      .select(['id', 'data'])
      .where('kind', '=', 'batch')
      .where('id', 'not in', used)
      .execute();
    const old = empty.filter(({ data }) => (createdAt(data) ?? before) < before).map(({ id }) => id);
    for (let start = 0; start < old.length; start += IDS_AT_ONCE) {
      const ids = old.slice(start, start + IDS_AT_ONCE);
      await kysely.deleteFrom('submissions').where('session_id', 'in', ids).execute();
      await kysely.deleteFrom('kept').where('kind', '=', 'batch').where('id', 'in', ids).execute();
    }
  }

  /**
   * Removes webhook messages whose session is gone. A message in flight while its session is removed is stored after
   * that.
   */
  async removeOrphanedWebhooks(): Promise<void> {
    const sessions = this.#kysely.selectFrom('sessions').select('id');
    await this.#webhooks().where(this.#sessionOfWebhook(), 'not in', sessions).execute();
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
      .select(({ fn }) => fn.max('ended_at').as('at'))
      .where('batch', '=', id)
      .executeTakeFirst();
    return row?.at ?? null;
  }

  #webhooks() {
    return this.#kysely.deleteFrom('kept').where('kind', 'in', ['delivery', 'delivered']);
  }

  /** The session id at the start of a webhook message's id. */
  #sessionOfWebhook() {
    return sql<string>`substr(id, 1, ${this.#dialect.position(sql.ref('id'), '/')} - 1)`;
  }
}

function createdAt(data: string): string | null {
  const batch = parseJson(data);
  const at: unknown = typeof batch === 'object' && batch !== null ? Reflect.get(batch, 'createdAt') : null;
  return typeof at === 'string' ? at : null;
}
