import { type Kysely, sql } from 'kysely';
import type Database from 'libsql';
import type { FlowRun, FlowRunQuery } from './messages.js';
import type { Schema } from './schema.js';

/** A member of an event's JSON data. */
const member = <T = string>(name: 'path' | 'status' | 'durationMs' | 'depth') => sql<T>`data ->> ${sql.lit(name)}`;

/** The history of flow runs. Runs on the journal's thread. */
export class FlowRunStore {
  readonly #kysely: Kysely<Schema>;
  readonly #add: Database.Statement;
  readonly #removeBefore: Database.Statement;

  constructor(database: Database.Database, kysely: Kysely<Schema>) {
    this.#kysely = kysely;
    const finished = kysely
      .selectFrom('events')
      .select([
        'seq',
        member('path').as('flow'),
        'session_id',
        'at',
        member('status').as('status'),
        member<number>('durationMs').as('ms'),
      ])
      .where('seq', '=', 0)
      .where(member<number>('depth'), '=', sql.lit(1));
    const add = kysely
      .insertInto('flow_runs')
      .columns(['seq', 'flow', 'session_id', 'at', 'status', 'duration_ms'])
      .expression(finished);
    this.#add = database.prepare(add.compile().sql);
    this.#removeBefore = database.prepare(kysely.deleteFrom('flow_runs').where('at', '<', '').compile().sql);
  }

  /** Adds the run of a FlowFinished event that was just written. Ignores flows that were called by another flow. */
  add(seq: number): void {
    this.#add.run([seq]);
  }

  /** Runs that match the query, newest first. */
  async list({ flow, since, until, limit }: FlowRunQuery): Promise<readonly FlowRun[]> {
    let select = this.#kysely
      .selectFrom('flow_runs')
      .select(['flow', 'session_id as sessionId', 'at', 'status', 'duration_ms as durationMs'])
      .where('at', '>=', since)
      .where('at', '<', until)
      .orderBy('at', 'desc')
      .orderBy('seq', 'desc')
      .limit(limit);
    if (flow !== undefined) select = select.where('flow', '=', flow);
    return select.execute();
  }

  removeBefore(before: string): void {
    this.#removeBefore.run([before]);
  }
}
