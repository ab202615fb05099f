import type { Kysely } from 'kysely';
import type { KeyValueKind, Submission } from '../messages.js';
import type { Schema } from '../schema.js';

/** Sorts after every character that an id may contain. */
const LAST = '\u{10ffff}';

/** Reads key-value entries and idempotency keys. */
export class KeyValueStore {
  readonly #kysely: Kysely<Schema>;

  constructor(kysely: Kysely<Schema>) {
    this.#kysely = kysely;
  }

  /** All entries of a kind whose id begins with `prefix`, sorted by id. */
  async list(kind: KeyValueKind, prefix: string): Promise<readonly { readonly id: string; readonly data: string }[]> {
    return this.#kysely
      .selectFrom('kept')
      .select(['id', 'data'])
      .where('kind', '=', kind)
      .where('id', '>=', prefix)
      .where('id', '<', `${prefix}${LAST}`)
      .orderBy('id')
      .execute();
  }

  /** Removes a session's webhook messages, and the value of its `_setup` flow. */
  async removeOfSession(sessionId: string): Promise<void> {
    await this.#kysely
      .deleteFrom('kept')
      .where('kind', 'in', ['value', 'job-files'])
      .where('id', '=', sessionId)
      .execute();
    await this.#kysely
      .deleteFrom('kept')
      .where('kind', 'in', ['delivery', 'delivered'])
      .where('id', '>=', `${sessionId}/`)
      .where('id', '<', `${sessionId}/${LAST}`)
      .execute();
  }

  async submission(key: string): Promise<readonly Submission[]> {
    return this.#kysely
      .selectFrom('submissions')
      .select(['key', 'session_id as sessionId', 'fingerprint'])
      .where('key', '=', key)
      .execute();
  }
}
