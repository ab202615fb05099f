import type { Kysely } from 'kysely';
import type Database from 'libsql';
import type { FlowRun, FlowRunQuery } from './messages.js';
import type { Schema } from './schema.js';

const ADD = `
  INSERT INTO flow_runs
    SELECT seq, data ->> 'path', session_id, at, data ->> 'status', data ->> 'durationMs'
    FROM events WHERE seq = ? AND data ->> 'depth' = 1`;

/** The history of flows. Lives on the journal's thread. */
export class FlowRunStore {
  readonly #database: Database.Database;
  readonly #kysely: Kysely<Schema>;
  readonly #add: Database.Statement;

  constructor(database: Database.Database, kysely: Kysely<Schema>) {
    this.#database = database;
    this.#kysely = kysely;
    this.#add = database.prepare(ADD);
  }

  /** Takes in a FlowFinished that was just written, of a flow that no other flow called. */
  add(seq: number): void {
    this.#add.run([seq]);
  }

  /** The newest runs, the newest first. */
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

  forget(before: string): void {
    this.#database.prepare('DELETE FROM flow_runs WHERE at < ?').run([before]);
  }
}
