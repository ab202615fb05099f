import type { ErrorBody } from '../protocol/errors.js';
import type { EventRow } from '../protocol/event-row.js';
import type { SessionMode, SessionStatus } from '../protocol/session.js';
import type {
  JoinedAttempt,
  JoinedChange,
  JoinedJob,
  JoinedRow,
  JoinedSelection,
  SuiteChange,
} from './joined-changes.js';
import type { SalvagedTable } from './sqlite/salvage.js';

/** A session's row. `record` and `lease` are JSON texts that the journal's thread never parses. */
export interface SessionRow {
  readonly id: string;
  readonly mode: string;
  readonly status: string;
  readonly createdAt: string;
  readonly batch: string | null;
  readonly record: string;
  readonly lease: string | null;
}

/** A session's row as it is written: with columns that queries compare, so that no query reads JSON. */
export interface WrittenSessionRow extends SessionRow {
  readonly endedAt: string | null;
  readonly attempt: number;
  readonly outcome: string | null;
  readonly labels: readonly (readonly [name: string, value: string])[];
}

/** A session's request and its caller. `request` is JSON text. Deleted when the session ends. */
export interface RequestRow {
  readonly sessionId: string;
  readonly caller: string;
  readonly request: string;
}

/** A queued session. */
export interface WaitingRow {
  readonly id: string;
  readonly batch: string | null;
  readonly caller: string;
}

/** An event as read from the database. `data` is JSON text. */
export interface NumberedEventRow {
  readonly seq: number;
  readonly sessionId: string;
  readonly at: string;
  readonly type: string;
  readonly data: string;
}

/** The session that an idempotency key stands for, and the fingerprint of its request. */
export interface Submission {
  readonly key: string;
  readonly sessionId: string;
  readonly fingerprint: string;
}

/**
 * The kinds of key-value entries: access tokens, the mark that there has been one, batches, webhook messages (whose ids
 * begin with the id of their session or batch and a slash), saved login states and what is in them, values of
 * `_setup` flows (by the id of their session), runs of suites and their tests (see `SuiteStore`), and the probe of a disk
 * that failed.
 */
export type KeyValueKind =
  | 'token'
  | 'access'
  | 'delivery'
  | 'delivered'
  | 'batch'
  | 'batch-flows'
  | 'batch-jobs'
  | 'job-files'
  | 'file-set'
  | 'file-set-data'
  | 'shared-flow'
  | 'state'
  | 'state-data'
  | 'value'
  | 'suite-run'
  | 'suite-open'
  | 'suite-test'
  | 'probe';

/** A key-value entry. `data` is JSON text; null deletes the entry. */
export interface KeyValueRow {
  readonly kind: KeyValueKind;
  readonly id: string;
  readonly data: string | null;
}

/** A page of sessions; see `Journal.list`. */
export interface SessionQuery {
  readonly state?: SessionStatus | undefined;
  readonly mode?: SessionMode | undefined;
  /** A session must have all of them; a null value matches any. */
  readonly labels?: readonly { readonly name: string; readonly value: string | null }[] | undefined;
  /** The batch that the sessions belong to. */
  readonly batch?: string | undefined;
  readonly limit: number;
  /** The last session of the previous page. */
  readonly before?: string | undefined;
  /** In the order of acceptance instead of newest first. */
  readonly oldestFirst?: boolean | undefined;
}

/** How many sessions of a batch are in each status. */
export interface BatchCounts {
  readonly counts: { readonly [status: string]: number };
  /** Sessions that completed only in a retry, without those below. */
  readonly flaky: number;
  /** Sessions that completed, and whose tests were all skipped. */
  readonly skipped: number;
  /** Sessions in which a flow failed, and which a model completed. */
  readonly repaired: number;
  /** When the last session of the batch ended; null while any has not. */
  readonly endedAt: string | null;
  /** The run of a suite; null for other batches. */
  readonly suite: SuiteRun | null;
}

/** A run of a suite. */
export interface SuiteRun {
  readonly state: 'running' | 'ended' | 'lapsed' | 'stopped';
  /** All tests are known, also those that have not begun. */
  readonly isWhole: boolean;
}

/** A page of batches, newest first; see `Journal.batchPage`. */
export interface BatchQuery {
  readonly limit: number;
  /** The last batch of the previous page. */
  readonly before?: string | undefined;
  readonly name?: string | undefined;
  /** A batch must have all of them; a null value matches any. */
  readonly labels?: readonly { readonly name: string; readonly value: string | null }[] | undefined;
}

/** A batch with the counts of its sessions. `data` is JSON text. */
export interface BatchRow extends BatchCounts {
  readonly id: string;
  readonly data: string;
}

/** How many sessions have each status, and how many of them failed since an instant. */
export interface StatusCounts {
  readonly counts: { readonly [status: string]: number };
  readonly failed: number;
}

/** A batch with sessions that have not ended, and how many. */
export interface OpenBatch {
  readonly id: string;
  readonly sessions: number;
}

/** Selects flow runs; see `Journal.flowRuns`. */
export interface FlowRunQuery {
  /** A path without extension; all flows if omitted. */
  readonly flow?: string | undefined;
  /** ISO instants; `until` is exclusive. */
  readonly since: string;
  readonly until: string;
  readonly limit: number;
}

/** One run of a flow that no other flow called. Outlives its session's removal. */
export interface FlowRun {
  readonly flow: string;
  readonly sessionId: string;
  /** When the run ended. */
  readonly at: string;
  /** `repaired`: it failed, and a model completed its job. */
  readonly status: 'passed' | 'failed' | 'repaired';
  readonly durationMs: number;
  /** The code of the error; null if it passed, or if it is not known. */
  readonly code: string | null;
}

/** A page of events; see `Journal.events`. */
export interface EventQuery {
  readonly sessionId?: string | undefined;
  readonly after: number;
  readonly limit: number;
  /** The page ends after this many characters of data; about 4 Mi if omitted. */
  readonly characters?: number | undefined;
  /** While the database is away, the read waits for it, for ten minutes at most. */
  readonly isKept?: boolean | undefined;
}

/**
 * With several nodes: the rights under which a request writes about sessions; see `src/cluster/claim-book.ts`. If one does
 * not hold, nothing of the request is written, and it is rejected with NODE_LOST.
 */
export interface WriteRights {
  /** The start of the node that writes. */
  readonly node: string;
  readonly startToken: string;
  /** Sessions that the node has claimed, with the tokens of the claims. */
  readonly held: readonly { readonly sessionId: string; readonly token: string }[];
  /** Live sessions that are accepted with this request: the node claims them. */
  readonly created: readonly { readonly sessionId: string; readonly token: string; readonly caller: string }[];
  /** Jobs that are accepted with this request: any node may claim them. */
  readonly queued: readonly { readonly sessionId: string; readonly caller: string }[];
  /** Claims that are given up: the jobs are queued again. */
  readonly requeued: readonly string[];
  /** Claims of sessions that end with this request. */
  readonly ended: readonly string[];
}

/** A request that changes the database. Requests that wait when a transaction begins share it. */
export type WriteRequest =
  | {
      readonly op: 'write';
      readonly id: number;
      readonly records: readonly WrittenSessionRow[];
      readonly requests: readonly RequestRow[];
      readonly events: readonly EventRow[];
      readonly submissions: readonly Submission[];
      readonly keyValues: readonly KeyValueRow[];
      readonly joined: readonly JoinedRow[];
      /** With several nodes, for everything about sessions. */
      readonly rights?: WriteRights | undefined;
      /** See `JournalBatch.isKept`. */
      readonly isKept?: boolean | undefined;
    }
  | { readonly op: 'joined'; readonly id: number; readonly change: JoinedChange }
  | { readonly op: 'suite'; readonly id: number; readonly change: SuiteChange }
  | { readonly op: 'amend'; readonly id: number; readonly sessionId: string; readonly record: string }
  | { readonly op: 'remove'; readonly id: number; readonly sessionId: string }
  | { readonly op: 'removeBatch'; readonly id: number; readonly batchId: string }
  | ({ readonly op: 'prune'; readonly id: number } & PruneBefore);

/** What is removed, by ISO instants. */
export interface PruneBefore {
  /** Flow runs that ended before. */
  readonly runsBefore: string;
  /** Batches that were created before and have no sessions. */
  readonly batchesBefore: string;
  /** Joined batches that were created before. */
  readonly joinedBefore: string;
}

/** A page of rows. `more` is true if the page ended because of its size. */
export interface EventRowPage {
  readonly rows: readonly NumberedEventRow[];
  readonly more: boolean;
}

/** The read operations, by name: called by the owner, answered by the thread. See the methods of `Journal`. */
export interface JournalReads {
  get(id: string): Promise<readonly SessionRow[]>;
  list(query: SessionQuery): Promise<readonly SessionRow[]>;
  running(): Promise<readonly SessionRow[]>;
  waiting(): Promise<readonly WaitingRow[]>;
  request(sessionId: string): Promise<readonly RequestRow[]>;
  statusCounts(failedSince: string): Promise<StatusCounts>;
  submission(key: string): Promise<readonly Submission[]>;
  keyValues(kind: KeyValueKind, prefix: string): Promise<readonly { readonly id: string; readonly data: string }[]>;
  events(query: EventQuery): Promise<EventRowPage>;
  openBatches(): Promise<readonly OpenBatch[]>;
  batchCounts(id: string): Promise<BatchCounts>;
  batchPage(query: BatchQuery): Promise<readonly BatchRow[]>;
  batchEnds(id: string, upTo: number): Promise<number>;
  endedBefore(instant: string, limit: number): Promise<readonly SessionRow[]>;
  flowRuns(query: FlowRunQuery): Promise<readonly FlowRun[]>;
  joinedNow(nowMs: number): Promise<number>;
  joinedDue(nowMs: number): Promise<readonly string[]>;
  suitesDue(nowMs: number): Promise<readonly string[]>;
  suiteTests(batchId: string): Promise<readonly string[]>;
  joinedJobs(batchId: string, job?: number): Promise<readonly JoinedJob[]>;
  joinedAttempts(batchId: string, only?: JoinedSelection): Promise<readonly JoinedAttempt[]>;
}

/** A call of {@link JournalReads}. Runs after every write that was posted before it. */
export interface ReadRequest {
  readonly op: 'read';
  readonly id: number;
  readonly name: keyof JournalReads;
  readonly args: readonly unknown[];
  /** See `EventQuery.isKept`. */
  readonly isKept?: boolean | undefined;
}

/** From the owner to the journal's thread, posted in arrays, in order. */
export type JournalRequest = WriteRequest | ReadRequest | { readonly op: 'close'; readonly id: number };

/** Where the journal is. */
export interface JournalPlace {
  /** The SQLite file, if no other database is named. */
  readonly file: string;
  /** The `postgres://` URL of a database. */
  readonly database?: string | undefined;
  /** Several services, each with `node` in its configuration, share the database. */
  readonly isShared?: boolean | undefined;
}

/** The thread's first message. */
export type JournalOpened =
  | { readonly opened: true; readonly instance: string; readonly lastSeq: number }
  /** The file is damaged; its readable rows were copied to another file. */
  | { readonly opened: 'damaged'; readonly tables: readonly SalvagedTable[] }
  | { readonly opened: false; readonly error: ErrorBody };

/**
 * From the thread to the owner, posted in arrays. The value of a write is the number of its first event. `waits`: the
 * write is kept, and its own reply follows.
 */
export type JournalReply =
  | { readonly id: number; readonly value: unknown; readonly wrote?: true }
  | { readonly id: number; readonly error: ErrorBody; readonly wrote?: true; readonly waits?: true };
