import { type Kysely, sql } from 'kysely';
import type Database from 'libsql';
import type { RequestRow, WaitingRow } from './messages.js';
import type { Schema } from './schema.js';

/** What sessions that have not ended were asked for: apart from their records, since it may be large. */
export class RequestStore {
  readonly #kysely: Kysely<Schema>;
  readonly #add: Database.Statement;
  readonly #forget: Database.Statement;

  constructor(database: Database.Database, kysely: Kysely<Schema>) {
    this.#kysely = kysely;
    this.#add = database.prepare(
      kysely.replaceInto('requests').values({ session_id: '', caller: '', request: '' }).compile().sql,
    );
    this.#forget = database.prepare(kysely.deleteFrom('requests').where('session_id', '=', '').compile().sql);
  }

  add({ sessionId, caller, request }: RequestRow): void {
    this.#add.run([sessionId, caller, request]);
  }

  /** An unknown id is no error. */
  forget(sessionId: string): void {
    this.#forget.run([sessionId]);
  }

  async get(sessionId: string): Promise<readonly RequestRow[]> {
    return this.#kysely
      .selectFrom('requests')
      .select(['session_id as sessionId', 'caller', 'request'])
      .where('session_id', '=', sessionId)
      .execute();
  }

  /** The sessions that are queued and can be read, in the order in which they were accepted, without what they were asked for. */
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
