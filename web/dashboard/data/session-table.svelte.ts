import type { SessionRecord } from '../../../src/protocol/session.js';
import type { SessionRow } from '../../../src/protocol/stream.js';
import { call, olderSessions } from './api.js';

/** Records fetched at once while the list is filled. */
const PAGE = 1000;
/** The list goes back so far; older ones are found by their id. */
const MAX_ROWS = 20_000;

/** All sessions that the page knows of, newest first. */
class SessionTable {
  rows = $state.raw<readonly SessionRow[]>([]);
  /** False until the first page of records is there. */
  loaded = $state(false);
  #reload: Promise<void> | null = null;

  /** Fetches the list, its newest page first. Changes that come meanwhile are kept. */
  async reload(): Promise<void> {
    this.#reload ??= this.#fetch().finally(() => {
      this.#reload = null;
    });
    await this.#reload;
  }

  update(changed: readonly SessionRow[]): void {
    if (changed.length === 0) return;
    const byId = new Map(changed.map((row) => [row.record.id, row]));
    const kept = this.rows.map((row) => {
      const next = byId.get(row.record.id);
      byId.delete(row.record.id);
      return next === undefined ? row : { record: next.record, doing: next.doing ?? row.doing };
    });
    const added = [...byId.values()].sort((a, b) => (a.record.createdAt < b.record.createdAt ? 1 : -1));
    this.rows = added.length === 0 ? kept : [...added, ...kept];
  }

  find(id: string): SessionRow | undefined {
    return this.rows.find(({ record }) => record.id === id);
  }

  /** Stops a session that runs or waits; removes one that has ended. */
  async remove({ id, endedAt }: SessionRecord): Promise<void> {
    await call('DELETE', `api/sessions/${id}`);
    if (endedAt !== null) this.rows = this.rows.filter((row) => row.record.id !== id);
  }

  async #fetch(): Promise<void> {
    const seen = new Set<string>();
    for (let before: string | null = null; seen.size < MAX_ROWS; ) {
      const page: SessionRecord[] | null = await olderSessions(before, PAGE).catch(() => null);
      if (page === null) return;
      const doing = new Map(this.rows.map((row) => [row.record.id, row.doing]));
      const fresh = page
        .filter(({ id }) => !seen.has(id))
        .map((record) => ({ record, doing: doing.get(record.id) ?? null }));
      for (const { id } of page) seen.add(id);
      const known = new Set(fresh.map(({ record }) => record.id));
      this.rows = [...this.rows.filter(({ record }) => !known.has(record.id)), ...fresh].sort((a, b) =>
        a.record.createdAt < b.record.createdAt ? 1 : a.record.createdAt > b.record.createdAt ? -1 : 0,
      );
      this.loaded = true;
      before = page.at(-1)?.id ?? null;
      if (page.length < PAGE) break;
    }
    // What the service no longer has was removed by somebody else.
    this.rows = this.rows.filter(({ record }) => seen.has(record.id) || seen.size >= MAX_ROWS);
    this.loaded = true;
  }
}

export const sessionTable = new SessionTable();
