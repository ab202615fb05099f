import type { Kysely } from 'kysely';
import type Database from 'libsql';
import type { EventQuery, NumberedEventRow } from './messages.js';
import type { Schema } from './schema.js';

/** Rows per read: starts small because a row may be large, and doubles until the page is full. */
const FIRST_ROWS = 4;
const MAX_ROWS = 128;
/** A page ends after this many characters of data unless the query sets its own limit. */
const DEFAULT_PAGE_CHARACTERS = 4 * 1024 * 1024;

/** Reads events from the database. */
export class EventStore {
  readonly #selectAll: Database.Statement;
  readonly #selectSession: Database.Statement;

  constructor(database: Database.Database, kysely: Kysely<Schema>) {
    const select = kysely
      .selectFrom('events')
      .select(['seq', 'session_id as sessionId', 'at', 'type', 'data'])
      .where('seq', '>', 0)
      .orderBy('seq')
      .limit(0);
    // Prepared once: preparing costs more than reading a short page. Values are bound in the order of the SQL text.
    this.#selectAll = database.prepare(select.compile().sql);
    this.#selectSession = database.prepare(select.where('session_id', '=', '').compile().sql);
  }

  /**
   * Returns at most `limit` events and about `characters` of data. `more` is true if the page ended because of its
   * size.
   */
  list(query: EventQuery): { readonly rows: readonly NumberedEventRow[]; readonly more: boolean } {
    const { limit, characters: most = DEFAULT_PAGE_CHARACTERS } = query;
    const page: NumberedEventRow[] = [];
    let characters = 0;
    let after = query.after;
    for (let wanted = FIRST_ROWS; page.length < limit; wanted = Math.min(2 * wanted, MAX_ROWS)) {
      const count = Math.min(wanted, limit - page.length);
      const rows = this.#read(query.sessionId, after, count);
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

  #read(sessionId: string | undefined, after: number, count: number): readonly NumberedEventRow[] {
    const rows =
      sessionId === undefined
        ? this.#selectAll.all([after, count])
        : this.#selectSession.all([after, sessionId, count]);
    // The prepared statement selects exactly these columns.
    return rows as readonly NumberedEventRow[];
  }
}
