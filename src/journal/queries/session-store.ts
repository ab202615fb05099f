import { type Kysely, sql } from 'kysely';
import { TroupeError } from '../../protocol/errors.js';
import type { Dialect } from '../dialect.js';
import type { SessionQuery, SessionRow, StatusCounts } from '../messages.js';
import { storable } from '../rows.js';
import type { Schema } from '../schema.js';

const SESSION_COLUMNS = ['id', 'mode', 'status', 'created_at as createdAt', 'batch', 'record', 'lease'] as const;

/** The statuses of sessions that have ended. */
export const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'stopped']);

/** Reads sessions. */
export class SessionStore {
  readonly #kysely: Kysely<Schema>;
  readonly #dialect: Dialect;

  constructor(kysely: Kysely<Schema>, dialect: Dialect) {
    this.#kysely = kysely;
    this.#dialect = dialect;
  }

  async get(id: string): Promise<readonly SessionRow[]> {
    return this.#kysely.selectFrom('sessions').select(SESSION_COLUMNS).where('id', '=', id).execute();
  }

  /** @throws INVALID_REQUEST if no session has the id `before` (any more) */
  async list(query: SessionQuery): Promise<readonly SessionRow[]> {
    const direction = query.oldestFirst === true ? 'asc' : 'desc';
    let select = this.#kysely
      .selectFrom('sessions')
      .select(SESSION_COLUMNS)
      .orderBy('created_at', direction)
      .orderBy('accepted', direction)
      .limit(query.limit);
    if (query.batch !== undefined) select = select.where('batch', '=', query.batch);
    if (query.state !== undefined) select = select.where('status', '=', query.state);
    if (query.mode !== undefined) select = select.where('mode', '=', query.mode);
    for (const { name, value } of query.labels ?? []) {
      let labelled = this.#kysely.selectFrom('session_labels').select('session_id').where('name', '=', storable(name));
      if (value !== null) labelled = labelled.where('value', '=', storable(value));
      select = select.where('id', 'in', labelled);
    }
    if (query.before !== undefined) {
      const before = await this.#kysely
        .selectFrom('sessions')
        .select(['created_at', 'accepted'])
        .where('id', '=', query.before)
        .executeTakeFirst();
      if (before === undefined) {
        const message = 'there is no such session';
        throw new TroupeError('INVALID_REQUEST', `"before": ${message}`, { issues: [{ path: 'before', message }] });
      }
      select = select.where((where) =>
        where(
          where.refTuple('created_at', 'accepted'),
          direction === 'asc' ? '>' : '<',
          where.tuple(before.created_at, before.accepted),
        ),
      );
    }
    return select.execute();
  }

  /** Running sessions, and queued ones whose record is unreadable, in the order in which they were accepted. */
  async running(): Promise<readonly SessionRow[]> {
    const isReadable = this.#dialect.isJson(sql.ref('record'));
    return this.#kysely
      .selectFrom('sessions')
      .select(SESSION_COLUMNS)
      .where(sql<boolean>`status = 'running' OR (status = 'queued' AND NOT ${isReadable})`)
      .orderBy('accepted')
      .execute();
  }

  async statusCounts(failedSince: string): Promise<StatusCounts> {
    const sessions = this.#kysely.selectFrom('sessions');
    const rows = await sessions
      .select(['status', ({ fn }) => fn.countAll<number>().as('sessions')])
      .groupBy('status')
      .execute();
    const { failed } = await sessions
      .select(({ fn }) => fn.countAll<number>().as('failed'))
      .where('status', '=', 'failed')
      .where('ended_at', '>=', failedSince)
      .executeTakeFirstOrThrow();
    const counts = Object.fromEntries(rows.map(({ status, sessions }) => [status, Number(sessions)]));
    return { counts, failed: Number(failed) };
  }

  /** Sessions that ended before `instant`, oldest first. */
  async endedBefore(instant: string, limit: number): Promise<readonly SessionRow[]> {
    return (
      this.#kysely
        .selectFrom('sessions')
        .select(SESSION_COLUMNS)
        .where('status', 'in', [...ENDED])
        // A session ends after it was created, and created_at is indexed.
        .where('created_at', '<', instant)
        .where('ended_at', '<', instant)
        .orderBy('created_at')
        .limit(limit)
        .execute()
    );
  }
}
