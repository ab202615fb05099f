import type { BatchList, BatchRecord } from '../../../../src/protocol/batches/batch.js';
import type { SessionRecord } from '../../../../src/protocol/session.js';
import type { SessionRow } from '../../../../src/protocol/stream.js';
import { call } from '../api.js';

const PAGE = 30;
/** The page asks again at most this often while jobs of runs change, in milliseconds. */
const PACE_MS = 1_500;

/** The runs (batches) that the page has fetched, newest first. */
class RunTable {
  runs = $state.raw<readonly BatchRecord[]>([]);
  loaded = $state(false);
  /** The `before` of the next page; null if there is none. */
  next = $state<string | null>(null);
  /** Increases whenever jobs of a run changed: what shows a run fetches it again. */
  version = $state(0);
  #timer: ReturnType<typeof setTimeout> | null = null;

  /** Fetches the newest page, and keeps older ones. Rejects with an ApiError. */
  async reload(): Promise<void> {
    const page = await fetchRuns(null);
    const oldest = page.batches.at(-1)?.createdAt ?? '';
    const older = page.next === null ? [] : this.runs.filter(({ createdAt }) => createdAt < oldest);
    this.runs = [...page.batches, ...older];
    if (older.length === 0) this.next = page.next;
    this.loaded = true;
    if (this.runs.some(isOpenSuite)) this.#ask();
  }

  async more(): Promise<void> {
    const page = await fetchRuns(this.next);
    const known = new Set(this.runs.map(({ id }) => id));
    this.runs = [...this.runs, ...page.batches.filter(({ id }) => !known.has(id))];
    this.next = page.next;
  }

  /** Called with each change of sessions. */
  changed(rows: readonly SessionRow[]): void {
    if (rows.some(({ record }) => record.batch !== null || runOf(record) !== undefined)) this.#ask();
  }

  /** A view has fetched a run: that of a suite, whose tests need no session, is asked for again until it has ended. */
  fetched(run: BatchRecord): void {
    if (isOpenSuite(run)) this.#ask();
  }

  #ask(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.version += 1;
    }, PACE_MS);
  }
}

function isOpenSuite({ suite, endedAt }: BatchRecord): boolean {
  return suite !== undefined && endedAt === null;
}

/** The run of a Playwright suite that a session belongs to; undefined for others. */
export function runOf({ mode, labels }: Pick<SessionRecord, 'mode' | 'labels'>): string | undefined {
  return mode === 'live' && labels.worker !== undefined ? labels.run : undefined;
}

function fetchRuns(before: string | null): Promise<BatchList> {
  const query = new URLSearchParams({ limit: String(PAGE), ...(before === null ? {} : { before }) });
  return call('GET', `api/batches?${query}`);
}

export const runTable = new RunTable();
