import { type Kysely, sql } from 'kysely';
import type Database from 'libsql';
import type { RequestRow, WaitingRow } from './messages.js';
import type { Schema } from './schema.js';

/** The requests of sessions that have not ended. Stored apart from the records because they may be large. */
export class RequestStore {
  readonly #kysely: Kysely<Schema>;
  readonly #add: Database.Statement;
  readonly #remove: Database.Statement;

  constructor(database: Database.Database, kysely: Kysely<Schema>) {
    this.#kysely = kysely;
    this.#add = database.prepare(
      kysely.replaceInto('requests').values({ session_id: '', caller: '', request: '' }).compile().sql,
    );
    this.#remove = database.prepare(kysely.deleteFrom('requests').where('session_id', '=', '').compile().sql);
  }

  add({ sessionId, caller, request }: RequestRow): void {
    this.#add.run([sessionId, caller, request]);
  }

  /** An unknown id is not an error. */
  remove(sessionId: string): void {
    this.#remove.run([sessionId]);
  }

  async get(sessionId: string): Promise<readonly RequestRow[]> {
    return this.#kysely
      .selectFrom('requests')
      .select(['session_id as sessionId', 'caller', 'request'])
      .where('session_id', '=', sessionId)
      .execute();
  }

  /** Queued sessions with readable records, in the order of acceptance, without their requests. */
  async waiting(): Promise<readonly WaitingRow[]> {
    return this.#kysely
      .selectFrom('sessions')
      .leftJoin('requests', 'requests.session_id', 'sessions.id')
      .select(({ fn, val }) => ['id', 'batch', fn.coalesce('caller', val('')).as('caller')])
      .where('status', '=', 'queued')
      .where(sql<boolean>`json_valid(record)`)
      .orderBy('accepted')
      .execute();
  }
}
