import type { Kysely } from 'kysely';
import type { FlowRun, FlowRunQuery } from '../messages.js';
import type { Schema } from '../schema.js';

/** The history of flow runs. */
export class FlowRunStore {
  readonly #kysely: Kysely<Schema>;

  constructor(kysely: Kysely<Schema>) {
    this.#kysely = kysely;
  }

  /** Runs that match the query, newest first. */
  async list({ flow, since, until, limit }: FlowRunQuery): Promise<readonly FlowRun[]> {
    let select = this.#kysely
      .selectFrom('flow_runs')
      .select(['flow', 'session_id as sessionId', 'at', 'status', 'duration_ms as durationMs', 'code'])
      .where('at', '>=', since)
      .where('at', '<', until)
      .orderBy('at', 'desc')
      .orderBy('seq', 'desc')
      .limit(limit);
    if (flow !== undefined) select = select.where('flow', '=', flow);
    return select.execute();
  }

  async removeBefore(before: string): Promise<void> {
    await this.#kysely.deleteFrom('flow_runs').where('at', '<', before).execute();
  }
}
