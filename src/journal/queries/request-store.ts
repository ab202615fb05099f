import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../dialect.js';
import type { RequestRow, WaitingRow } from '../messages.js';
import type { Schema } from '../schema.js';

/** Reads requests of sessions that have not ended. Stored apart from the records because they may be large. */
export class RequestStore {
  readonly #kysely: Kysely<Schema>;
  readonly #dialect: Dialect;

  constructor(kysely: Kysely<Schema>, dialect: Dialect) {
    this.#kysely = kysely;
    this.#dialect = dialect;
  }

  async get(sessionId: string): Promise<readonly RequestRow[]> {
    return this.#kysely
      .selectFrom('requests')
      .select(['session_id as sessionId', 'caller', 'hosts', 'request'])
      .where('session_id', '=', sessionId)
      .execute();
  }

  /** Queued sessions with readable records, in the order of acceptance, without their requests. */
  async waiting(): Promise<readonly WaitingRow[]> {
    return this.#kysely
      .selectFrom('sessions')
      .leftJoin('requests', 'requests.session_id', 'sessions.id')
      .select(({ fn, val }) => [
        'id',
        'batch',
        fn.coalesce('caller', val('')).as('caller'),
        fn.coalesce('hosts', val('')).as('hosts'),
      ])
      .where('status', '=', 'queued')
      .where(this.#dialect.isJson(sql.ref('record')))
      .orderBy('accepted')
      .execute();
  }
}
