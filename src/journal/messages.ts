import type { ErrorBody } from '../protocol/errors.js';
import type { EventRow } from '../protocol/event-row.js';
import type { SessionMode, SessionStatus } from '../protocol/session.js';
import type { SalvagedTable } from './salvage.js';

/** A session as its row. Record and lease are JSON texts: the journal's thread never parses them. */
export interface SessionRow {
  readonly id: string;
  readonly mode: string;
  readonly status: string;
  readonly createdAt: string;
  readonly batch: string | null;
  readonly record: string;
  readonly lease: string | null;
}

/** What a session was asked for, and by whom. `request` is JSON text. It is there until the session has ended. */
export interface RequestRow {
  readonly sessionId: string;
  readonly caller: string;
  readonly request: string;
}

/** A session that waits for its place. */
export interface WaitingRow {
  readonly id: string;
  readonly batch: string | null;
  readonly caller: string;
}

/** An event as it was read. `data` is JSON text. */
export interface NumberedEventRow {
  readonly seq: number;
  readonly sessionId: string;
  readonly at: string;
  readonly type: string;
  readonly data: string;
}

/** Which session a submission's key stands for, and of what request. */
export interface Submission {
  readonly key: string;
  readonly sessionId: string;
  readonly fingerprint: string;
}

/**
 * What is kept by name: an access token, the fact that there once was one, a batch, or a message of a webhook, whose id
 * begins with its session's and a slash.
 */
export type KeptKind = 'token' | 'access' | 'delivery' | 'delivered' | 'batch' | 'probe';

/** A thing that is kept by name. `data` is JSON text; null takes it away. */
export interface KeptRow {
  readonly kind: KeptKind;
  readonly id: string;
  readonly data: string | null;
}

/** A page of sessions; see `Journal.list`. */
export interface SessionQuery {
  readonly state?: SessionStatus | undefined;
  readonly mode?: SessionMode | undefined;
  /** All must hold; a value of null stands for any. */
  readonly labels?: readonly { readonly name: string; readonly value: string | null }[] | undefined;
  /** The batch that they came with. */
  readonly batch?: string | undefined;
  readonly limit: number;
  /** The last session of the page before. */
  readonly before?: string | undefined;
  /** In the order in which they were accepted, instead of newest first. */
  readonly oldestFirst?: boolean | undefined;
}

/** How many sessions of a batch are in each status. */
export interface BatchCounts {
  readonly counts: { readonly [status: string]: number };
  /** The last end among them; null where none has ended. */
  readonly endedAt: string | null;
}

/** How many sessions are in each status, and how many of them have failed since an instant. */
export interface StatusCounts {
  readonly counts: { readonly [status: string]: number };
  readonly failed: number;
}

/** A batch with sessions that have not ended, and how many these are. */
export interface OpenBatch {
  readonly id: string;
  readonly sessions: number;
}

/** Which runs of flows; see `Journal.flowRuns`. */
export interface FlowRunQuery {
  /** A path without extension; all flows where it is left out. */
  readonly flow?: string | undefined;
  /** ISO instants; `until` is not in it. */
  readonly since: string;
  readonly until: string;
  readonly limit: number;
}

/** One run of a flow that no other flow called. It is kept when its session is removed. */
export interface FlowRun {
  readonly flow: string;
  readonly sessionId: string;
  /** When it ended. */
  readonly at: string;
  readonly status: 'passed' | 'failed';
  readonly durationMs: number;
}

/** A page of events; see `Journal.events`. */
export interface EventQuery {
  readonly sessionId?: string | undefined;
  readonly after: number;
  readonly limit: number;
  /** A page ends after so many characters of data, however few events that are; about 4 Mi where it is left out. */
  readonly characters?: number | undefined;
}

/** What changes the file. All that wait when a transaction begins are in it together. */
export type WriteRequest =
  | {
      readonly op: 'write';
      readonly id: number;
      readonly records: readonly SessionRow[];
      readonly requests: readonly RequestRow[];
      readonly events: readonly EventRow[];
      readonly submissions: readonly Submission[];
      readonly kept: readonly KeptRow[];
    }
  | { readonly op: 'remove'; readonly id: number; readonly sessionId: string }
  | { readonly op: 'removeBatch'; readonly id: number; readonly batchId: string }
  /** Forgets runs of flows that ended before, and batches that came before and have no session left. */
  | { readonly op: 'prune'; readonly id: number; readonly runsBefore: string; readonly batchesBefore: string };

/** A page of rows; `more` says that it ended for its size, and not for want of rows. */
export interface EventRowPage {
  readonly rows: readonly NumberedEventRow[];
  readonly more: boolean;
}

/** What only looks, by name: called by the owner, answered by the thread. See the methods of `Journal`. */
export interface JournalReads {
  get(id: string): Promise<readonly SessionRow[]>;
  list(query: SessionQuery): Promise<readonly SessionRow[]>;
  running(): Promise<readonly SessionRow[]>;
  waiting(): Promise<readonly WaitingRow[]>;
  request(sessionId: string): Promise<readonly RequestRow[]>;
  statusCounts(failedSince: string): Promise<StatusCounts>;
  submission(key: string): Promise<readonly Submission[]>;
  kept(kind: KeptKind, prefix: string): Promise<readonly { readonly id: string; readonly data: string }[]>;
  events(query: EventQuery): Promise<EventRowPage>;
  openBatches(): Promise<readonly OpenBatch[]>;
  batchCounts(id: string): Promise<BatchCounts>;
  batchEnds(id: string, upTo: number): Promise<number>;
  endedBefore(instant: string, limit: number): Promise<readonly SessionRow[]>;
  flowRuns(query: FlowRunQuery): Promise<readonly FlowRun[]>;
}

/** A call of {@link JournalReads}. Answered after every write that was posted before it. */
export interface ReadRequest {
  readonly op: 'read';
  readonly id: number;
  readonly name: keyof JournalReads;
  readonly args: readonly unknown[];
}

/** From the owner to the journal's thread; posted in arrays, in order. */
export type JournalRequest = WriteRequest | ReadRequest | { readonly op: 'close'; readonly id: number };

/** The thread's first message. */
export type JournalOpened =
  | { readonly opened: true; readonly instance: string; readonly lastSeq: number }
  /** It is damaged; what can be read of it is in a file of its own. */
  | { readonly opened: 'damaged'; readonly tables: readonly SalvagedTable[] }
  | { readonly opened: false; readonly error: ErrorBody };

/** From the thread to the owner; posted in arrays. A write answers the number of its first event. */
export type JournalReply =
  | { readonly id: number; readonly value: unknown; readonly wrote?: true }
  | { readonly id: number; readonly error: ErrorBody; readonly wrote?: true };
