import type { CompiledQuery, Kysely } from 'kysely';
import type { EventQuery, NumberedEventRow } from '../messages.js';
import type { Schema } from '../schema.js';

/** Rows per read: starts small because a row may be large, and doubles until the page is full. */
const FIRST_ROWS = 4;
const MAX_ROWS = 128;
/** A page ends after this many characters of data unless the query sets its own limit. */
const DEFAULT_PAGE_CHARACTERS = 4 * 1024 * 1024;

/** Reads events from the database. */
export class EventStore {
  readonly #kysely: Kysely<Schema>;
  readonly #firstRows: number;
  readonly #selectAll: CompiledQuery<NumberedEventRow>;
  readonly #selectSession: CompiledQuery<NumberedEventRow>;

  /** @param firstRows of a page's first read: {@link FIRST_ROWS} unless reads cost a round trip */
  constructor(kysely: Kysely<Schema>, firstRows: number = FIRST_ROWS) {
    this.#kysely = kysely;
    this.#firstRows = firstRows;
    const select = kysely
      .selectFrom('events')
      .select(['seq', 'session_id as sessionId', 'at', 'type', 'data'])
      .where('seq', '>', 0)
      .orderBy('seq')
      .limit(0);
    // Compiled once: compiling costs more than reading a short page. Values are bound in the order of the SQL text.
    this.#selectAll = select.compile();
    this.#selectSession = select.where('session_id', '=', '').compile();
  }

  /**
   * Returns at most `limit` events and about `characters` of data. `more` is true if the page ended because of its
   * size.
   */
  async list(query: EventQuery): Promise<{ readonly rows: readonly NumberedEventRow[]; readonly more: boolean }> {
    const { limit, characters: most = DEFAULT_PAGE_CHARACTERS } = query;
    const page: NumberedEventRow[] = [];
    let characters = 0;
    let after = query.after;
    for (let wanted = this.#firstRows; page.length < limit; wanted = Math.min(2 * wanted, MAX_ROWS)) {
      const count = Math.min(wanted, limit - page.length);
      const rows = await this.#read(query.sessionId, after, count);
      for (const row of rows) {
        // The first event is returned whatever its size.
        if (page.length > 0 && characters + row.data.length > most) return { rows: page, more: true };
        page.push(row);
        characters += row.data.length;
        after = row.seq;
      }
      if (rows.length < count) return { rows: page, more: false };
    }
    return { rows: page, more: false };
  }

  async #read(sessionId: string | undefined, after: number, count: number): Promise<readonly NumberedEventRow[]> {
    const query =
      sessionId === undefined
        ? { ...this.#selectAll, parameters: [after, count] }
        : { ...this.#selectSession, parameters: [after, sessionId, count] };
    return (await this.#kysely.executeQuery<NumberedEventRow>(query)).rows;
  }
}
