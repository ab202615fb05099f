import type { SessionRecord, SessionStatus } from '../../../../src/protocol/session.js';
import type { SessionRow } from '../../../../src/protocol/stream.js';
import { call, olderSessions } from '../api.js';

/** As long as a screen, so that there is something to read at once. */
const FIRST_PAGE = 100;
/** Records fetched at once while the list is filled. */
const PAGE = 1000;
/** The longest list; older sessions are found by their id. */
const MAX_ROWS = 20_000;

/** All sessions known to the page, newest first. */
class SessionTable {
  rows = $state.raw<readonly SessionRow[]>([]);
  /** False until the first page of records has arrived. */
  loaded = $state(false);
  /** The service's last counts of all sessions; null before. */
  reported = $state.raw<Counts | null>(null);
  /** The rows contain every session of the service. */
  #whole = $state(false);
  readonly #own = $derived(countsOf(this.rows));
  readonly counts = $derived(this.#whole || this.reported === null ? this.#own : atLeast(this.reported, this.#own));
  #reload: Promise<void> | null = null;

  /** Fetches the list, its newest page first. Changes that arrive meanwhile are kept. */
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

  /** Stops a running or queued session; removes an ended one. */
  async remove({ id, endedAt }: SessionRecord): Promise<void> {
    // Without purge, a session that was stopped a moment ago would stay.
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
    // Somebody else removed what the service no longer has.
    this.rows = this.rows.filter(({ record }) => seen.has(record.id) || seen.size >= MAX_ROWS);
    this.loaded = true;
    this.#whole = seen.size < MAX_ROWS;
  }
}

function newestFirst(one: SessionRow, other: SessionRow): number {
  const [a, b] = [one.record.createdAt, other.record.createdAt];
  return a < b ? 1 : a > b ? -1 : 0;
}

/** The number of sessions in each state, and of failures since local midnight. */
export interface Counts {
  readonly of: { readonly [Status in SessionStatus]: number };
  readonly failedToday: number;
}

/** The start of today in local time. */
export function midnight(): string {
  return new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
}

/**
 * The larger count of each kind: until all rows have arrived the service knows more, and the rows know newer sessions.
 */
function atLeast(reported: Counts, own: Counts): Counts {
  const most = (status: SessionStatus) => Math.max(reported.of[status], own.of[status]);
  return {
    of: {
      // The rows contain all of these at once, and their number can decrease.
      running: own.of.running,
      queued: most('queued'),
      completed: most('completed'),
      failed: most('failed'),
      stopped: most('stopped'),
    },
    failedToday: Math.max(reported.failedToday, own.failedToday),
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
