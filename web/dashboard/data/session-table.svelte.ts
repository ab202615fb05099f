import type { SessionRecord, SessionStatus } from '../../../src/protocol/session.js';
import type { SessionRow } from '../../../src/protocol/stream.js';
import { call, olderSessions } from './api.js';

/** The first page is as long as a screen, so that there is something to read at once. */
const FIRST_PAGE = 100;
/** Records fetched at once while the list is filled. */
const PAGE = 1000;
/** The list goes back so far; older ones are found by their id. */
const MAX_ROWS = 20_000;

/** All sessions that the page knows of, newest first. */
class SessionTable {
  rows = $state.raw<readonly SessionRow[]>([]);
  /** False until the first page of records is there. */
  loaded = $state(false);
  /** What the service said of all sessions when it was asked last; null before. */
  told = $state.raw<Counts | null>(null);
  /** Every session of the service is in the rows. */
  #whole = $state(false);
  readonly #own = $derived(countsOf(this.rows));
  readonly counts = $derived(this.#whole || this.told === null ? this.#own : atLeast(this.told, this.#own));
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
    const added = [...byId.values()].sort(newestFirst);
    this.rows = added.length === 0 ? kept : [...added, ...kept];
  }

  find(id: string): SessionRow | undefined {
    return this.rows.find(({ record }) => record.id === id);
  }

  /** Stops a session that runs or waits; removes one that has ended. */
  async remove({ id, endedAt }: SessionRecord): Promise<void> {
    // One that was stopped a moment ago would stay otherwise.
    await call('DELETE', `api/sessions/${id}${endedAt === null ? '' : '?purge=true'}`);
    if (endedAt !== null) this.rows = this.rows.filter((row) => row.record.id !== id);
  }

  async #fetch(): Promise<void> {
    const seen = new Set<string>();
    this.#whole = false;
    for (let before: string | null = null; seen.size < MAX_ROWS; ) {
      const limit: number = before === null ? FIRST_PAGE : PAGE;
      const page: SessionRecord[] | null = await olderSessions(before, limit).catch(() => null);
      if (page === null) return;
      const doing = new Map(this.rows.map((row) => [row.record.id, row.doing]));
      const fresh = page
        .filter(({ id }) => !seen.has(id))
        .map((record) => ({ record, doing: doing.get(record.id) ?? null }));
      for (const { id } of page) seen.add(id);
      const known = new Set(fresh.map(({ record }) => record.id));
      this.rows = [...this.rows.filter(({ record }) => !known.has(record.id)), ...fresh].sort(newestFirst);
      this.loaded = true;
      before = page.at(-1)?.id ?? null;
      if (page.length < limit) break;
    }
    // What the service no longer has was removed by somebody else.
    this.rows = this.rows.filter(({ record }) => seen.has(record.id) || seen.size >= MAX_ROWS);
    this.loaded = true;
    this.#whole = seen.size < MAX_ROWS;
  }
}

function newestFirst(one: SessionRow, other: SessionRow): number {
  const [a, b] = [one.record.createdAt, other.record.createdAt];
  return a < b ? 1 : a > b ? -1 : 0;
}

/** How many sessions there are in each state, and how many failed since midnight, here. */
export interface Counts {
  readonly of: { readonly [Status in SessionStatus]: number };
  readonly failedToday: number;
}

/** When today began, here. */
export function midnight(): string {
  return new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
}

/** The larger of each: until all rows are there the service knows more, and of what came since the rows do. */
function atLeast(told: Counts, own: Counts): Counts {
  const most = (status: SessionStatus) => Math.max(told.of[status], own.of[status]);
  return {
    of: {
      // Of these all are there at once, and they become fewer.
      running: own.of.running,
      queued: most('queued'),
      completed: most('completed'),
      failed: most('failed'),
      stopped: most('stopped'),
    },
    failedToday: Math.max(told.failedToday, own.failedToday),
  };
}

function countsOf(rows: readonly SessionRow[]): Counts {
  const today = midnight();
  const of = { queued: 0, running: 0, completed: 0, failed: 0, stopped: 0 };
  let failedToday = 0;
  for (const { record } of rows) {
    of[record.status] += 1;
    if (record.status === 'failed' && record.endedAt !== null && record.endedAt >= today) failedToday += 1;
  }
  return { of, failedToday };
}

export const sessionTable = new SessionTable();
