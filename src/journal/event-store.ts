import type { Kysely } from 'kysely';
import type Database from 'libsql';
import type { EventQuery, NumberedEventRow } from './messages.js';
import type { Schema } from './schema.js';

/** Events are read so many rows at a time until a message is full, and twice as many each time: the first may be large. */
const FIRST_ROWS = 4;
const MOST_ROWS = 128;
/** A message of events ends after so many characters of data, however few events that are. */
const PART_CHARACTERS = 4 * 1024 * 1024;

/** The events in the journal's file, for those who read them. */
export class EventStore {
  readonly #ofAll: Database.Statement;
  readonly #ofOne: Database.Statement;

  constructor(database: Database.Database, kysely: Kysely<Schema>) {
    const above = kysely
      .selectFrom('events')
      .select(['seq', 'session_id as sessionId', 'at', 'type', 'data'])
      .where('seq', '>', 0)
      .orderBy('seq')
      .limit(0);
    // Prepared once, as writing them anew costs more than a short page; values are bound in the order of the text.
    this.#ofAll = database.prepare(above.compile().sql);
    this.#ofOne = database.prepare(above.where('session_id', '=', '').compile().sql);
  }

  /** At most `limit` events and about as many characters of data as asked for; `more` says that it stopped for the latter. */
  list(query: EventQuery): { readonly rows: readonly NumberedEventRow[]; readonly more: boolean } {
    const { limit, characters: most = PART_CHARACTERS } = query;
    const page: NumberedEventRow[] = [];
    let characters = 0;
    let after = query.after;
    for (let wanted = FIRST_ROWS; page.length < limit; wanted = Math.min(2 * wanted, MOST_ROWS)) {
      const count = Math.min(wanted, limit - page.length);
      const rows = this.#read(query.sessionId, after, count);
      for (const row of rows) {
        // The first goes whatever its size.
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
    const rows = sessionId === undefined ? this.#ofAll.all([after, count]) : this.#ofOne.all([after, sessionId, count]);
    // The columns are those of the statement.
    return rows as readonly NumberedEventRow[];
  }
}
