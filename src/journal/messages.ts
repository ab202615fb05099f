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

/** What only looks. Answered after every write that was posted before it. */
export type ReadRequest =
  | { readonly op: 'get'; readonly id: number; readonly sessionId: string }
  | { readonly op: 'list'; readonly id: number; readonly query: SessionQuery }
  | { readonly op: 'running'; readonly id: number }
  | { readonly op: 'waiting'; readonly id: number }
  | { readonly op: 'request'; readonly id: number; readonly sessionId: string }
  | { readonly op: 'statusCounts'; readonly id: number; readonly failedSince: string }
  | { readonly op: 'submission'; readonly id: number; readonly key: string }
  | { readonly op: 'kept'; readonly id: number; readonly kind: KeptKind; readonly prefix: string }
  | { readonly op: 'events'; readonly id: number; readonly query: EventQuery }
  | { readonly op: 'openBatches'; readonly id: number }
  | { readonly op: 'batchCounts'; readonly id: number; readonly batchId: string }
  | { readonly op: 'batchEnds'; readonly id: number; readonly batchId: string; readonly upTo: number }
  | { readonly op: 'endedBefore'; readonly id: number; readonly instant: string; readonly limit: number }
  | { readonly op: 'flowRuns'; readonly id: number; readonly query: FlowRunQuery };

/** From the owner to the journal's thread; posted in arrays, in order. */
export type JournalRequest = WriteRequest | ReadRequest | { readonly op: 'close'; readonly id: number };

/** The thread's first message. */
export type JournalOpened =
  | { readonly opened: true; readonly instance: string; readonly lastSeq: number }
  /** It is damaged; what can be read of it is in a file of its own. */
  | { readonly opened: 'damaged'; readonly tables: readonly SalvagedTable[] }
  | { readonly opened: false; readonly error: ErrorBody };

/** From the thread to the owner; posted in arrays. `firstSeq` is the number of a write's first event. */
export type JournalReply =
  | { readonly id: number; readonly kind: 'done'; readonly firstSeq: number }
  | { readonly id: number; readonly kind: 'sessions'; readonly rows: readonly SessionRow[] }
  | { readonly id: number; readonly kind: 'waiting'; readonly rows: readonly WaitingRow[] }
  | { readonly id: number; readonly kind: 'requests'; readonly rows: readonly RequestRow[] }
  | { readonly id: number; readonly kind: 'submissions'; readonly rows: readonly Submission[] }
  | {
      readonly id: number;
      readonly kind: 'kept';
      readonly rows: readonly { readonly id: string; readonly data: string }[];
    }
  | { readonly id: number; readonly kind: 'openBatches'; readonly rows: readonly OpenBatch[] }
  | ({ readonly id: number; readonly kind: 'counts' } & BatchCounts)
  | ({ readonly id: number; readonly kind: 'statusCounts' } & StatusCounts)
  | { readonly id: number; readonly kind: 'number'; readonly value: number }
  | { readonly id: number; readonly kind: 'flowRuns'; readonly rows: readonly FlowRun[] }
  | { readonly id: number; readonly kind: 'events'; readonly rows: readonly NumberedEventRow[]; readonly more: boolean }
  | { readonly id: number; readonly kind: 'failed'; readonly error: ErrorBody; readonly write?: true };
