import type { Kysely } from 'kysely';
import type { EventQuery, NumberedEventRow } from './messages.js';
import type { Schema } from './schema.js';

/** Events are read so many rows at a time until a message is full, and twice as many each time: the first may be large. */
const FIRST_ROWS = 4;
const MOST_ROWS = 64;
/** A message of events ends after so many characters of data, however few events that are. */
const PART_CHARACTERS = 4 * 1024 * 1024;

const EVENT_COLUMNS = ['seq', 'session_id as sessionId', 'at', 'type', 'data'] as const;

/** The events in the journal's file, for those who read them. */
export class EventStore {
  readonly #kysely: Kysely<Schema>;

  constructor(kysely: Kysely<Schema>) {
    this.#kysely = kysely;
  }

  /** At most `limit` events and about as many characters of data as asked for; `more` says that it stopped for the latter. */
  async list(query: EventQuery): Promise<{ readonly rows: readonly NumberedEventRow[]; readonly more: boolean }> {
    const { sessionId, limit, characters: most = PART_CHARACTERS } = query;
    const page: NumberedEventRow[] = [];
    let characters = 0;
    let after = query.after;
    for (let wanted = FIRST_ROWS; page.length < limit; wanted = Math.min(2 * wanted, MOST_ROWS)) {
      const count = Math.min(wanted, limit - page.length);
      let select = this.#kysely
        .selectFrom('events')
        .select(EVENT_COLUMNS)
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(count);
      if (sessionId !== undefined) select = select.where('session_id', '=', sessionId);
      const rows = await select.execute();
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
}
