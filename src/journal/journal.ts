import type { Worker } from 'node:worker_threads';
import { withDeadline } from '../base/deadline.js';
import { decodeError, encodeError, TroupeError } from '../protocol/errors.js';
import type { JournalEvent } from '../protocol/events.js';
import { SessionId } from '../protocol/session.js';
import { type JournalBatch, toWrite } from './journal-batch.js';
import { firstMessage, startWorker } from './journal-worker.js';
import type {
  BatchCounts,
  EventQuery,
  FlowRun,
  FlowRunQuery,
  JournalOpened,
  JournalReply,
  JournalRequest,
  KeptKind,
  NumberedEventRow,
  OpenBatch,
  SessionQuery,
  SessionRow,
  StatusCounts,
  Submission,
} from './messages.js';
import {
  type DamagedSession,
  fromEventRow,
  fromSessionRow,
  parsed,
  readSessionRow,
  type StoredRequest,
  type StoredSession,
  type WaitingSession,
} from './rows.js';
import { describeSalvaged, replaceDamaged, type SalvagedTable } from './salvage.js';
import { WriteHealth } from './write-health.js';

export type { JournalBatch, Kept } from './journal-batch.js';
export type { FlowRun, SessionQuery, Submission } from './messages.js';
export type { DamagedSession, StoredRequest, StoredSession, WaitingSession } from './rows.js';

const CLOSE_DEADLINE_MS = 10_000;
/** What may wait for the disk: records and events together, and the characters of their JSON. */
const MAX_WAITING_ROWS = 100_000;
const MAX_WAITING_CHARACTERS = 64 * 1024 * 1024;
/** More than a log of changes has left over by chance when the disk is full. */
const PROBE_CHARACTERS = 64 * 1024;
/** The most sessions or events that one call answers. */
const MAX_PAGE = 10_000;

interface Pending {
  readonly resolve: (reply: JournalReply) => void;
  readonly reject: (error: Error) => void;
  readonly rows: number;
  readonly characters: number;
}

type State = 'open' | 'closing' | 'closed';

/**
 * What was accepted and what happened, on disk. A handle of the journal's thread; the owner is the service, which must
 * close it. One running service at a time can have a file open.
 *
 * Writes that arrive while one is being put on disk share the next transaction. What waits is bounded by 100,000 rows
 * and 64 Mi characters: a write beyond that is rejected with UNAVAILABLE (a single larger one is taken when nothing
 * waits), so a writer that must lose nothing waits for its writes. When the thread dies every call is rejected with
 * UNAVAILABLE at once, and {@link Journal.failed} says so.
 */
export class Journal {
  /** Made once with the file, 16 hexadecimal digits: tells our browsers and containers from another service's. */
  readonly instance: string;
  /** Settles, with the reason, when the journal's thread has died; never rejects, and not at all after a close. */
  readonly failed: Promise<TroupeError>;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  readonly #log: (line: string) => void;
  readonly #health = new WriteHealth(() => this.#probe());
  #outbox: JournalRequest[] = [];
  #nextId = 1;
  #waitingRows = 0;
  #waitingCharacters = 0;
  #lastSeq: number;
  #state: State = 'open';
  #failure: TroupeError | null = null;
  #reportFailure: (error: TroupeError) => void = () => {};
  #closed: Promise<void> | null = null;

  private constructor(worker: Worker, opened: JournalOpened & { opened: true }, log: (line: string) => void) {
    this.#worker = worker;
    this.instance = opened.instance;
    this.#lastSeq = opened.lastSeq;
    this.#log = log;
    this.failed = new Promise((resolve) => {
      this.#reportFailure = resolve;
    });
    worker.on('message', (replies: readonly JournalReply[]) => this.#settle(replies));
    worker.on('error', (error) => this.#fail(`The journal's thread died: ${encodeError(error).error}`));
    worker.on('exit', (code) => this.#fail(`The journal's thread ended (${code})`));
  }

  /**
   * Opens the file, creating it where there is none (its folder must be there). Where it is damaged, it is kept beside as
   * `<file>.damaged-<time>`, what can be read of it goes on, and `log` says how much could not be read.
   * @throws UNAVAILABLE when it is not a database or not ours, is newer than we know, is open in another running
   *   service, or cannot be written; the message names the file and the remedy
   */
  static async open(options: { readonly file: string; log?(line: string): void }): Promise<Journal> {
    const { file, log = () => {} } = options;
    const worker = startWorker(file);
    let tables: readonly SalvagedTable[];
    try {
      const opened = await firstMessage(worker);
      if (opened.opened === true) return new Journal(worker, opened, log);
      if (opened.opened === false) throw decodeError(opened.error);
      tables = opened.tables;
    } catch (error) {
      await worker.terminate();
      throw error;
    }
    // Its connections end with it and not before.
    await worker.terminate();
    log(describeSalvaged(file, replaceDamaged(file), tables));
    return await Journal.open(options);
  }

  /**
   * One transaction: records are put in place (a new id is accepted, a known one is replaced), then the events are
   * numbered in their order. Settles when all of it is on disk, with the number of the first event, 0 where there is
   * none. The order of calls is the order of numbers.
   */
  async write(batch: JournalBatch): Promise<number> {
    const { events = [] } = batch;
    const { message, rows, characters } = toWrite(batch);
    if (rows + message.records.length === 0) return 0;
    const reply = await this.#ask({ op: 'write', id: this.#nextId++, ...message }, rows, characters);
    if (reply.kind !== 'done') throw unexpected(reply);
    if (events.length > 0) this.#lastSeq = Math.max(this.#lastSeq, reply.firstSeq + events.length - 1);
    return reply.firstSeq;
  }

  async get(id: SessionId): Promise<StoredSession | null> {
    const [session] = await this.#sessions({ op: 'get', id: this.#nextId++, sessionId: id });
    return session ?? null;
  }

  /**
   * Newest first, or oldest first; sessions of the same instant stay in their order from page to page. At most 10,000.
   * @throws INVALID_REQUEST when `before` names no session
   */
  list(query: SessionQuery): Promise<readonly StoredSession[]> {
    return this.#sessions({ op: 'list', id: this.#nextId++, query: { ...query, limit: pageLimit(query.limit) } });
  }

  /** The sessions that run, in the order in which they were accepted; apart those that run or wait and cannot be read. */
  async running(): Promise<{
    readonly sessions: readonly StoredSession[];
    readonly damaged: readonly DamagedSession[];
  }> {
    const rows = (await this.#sessionRows({ op: 'running', id: this.#nextId++ })).map(readSessionRow);
    return {
      sessions: rows.flatMap((read) => ('lease' in read ? [read] : [])),
      damaged: rows.flatMap((read) => ('lease' in read ? [] : [read])),
    };
  }

  /** The sessions that are queued, in the order in which they were accepted. Reads nothing of them that may be large. */
  async waiting(): Promise<readonly WaitingSession[]> {
    const reply = await this.#ask({ op: 'waiting', id: this.#nextId++ });
    if (reply.kind !== 'waiting') throw unexpected(reply);
    return reply.rows.flatMap(({ id, ...row }) => {
      const known = SessionId.safeParse(id);
      return known.success ? [{ ...row, id: known.data }] : [];
    });
  }

  /** What a session was asked for; null where it has ended, or never was. A damaged one is undefined. */
  async request(id: SessionId): Promise<StoredRequest | null> {
    const reply = await this.#ask({ op: 'request', id: this.#nextId++, sessionId: id });
    if (reply.kind !== 'requests') throw unexpected(reply);
    const [row] = reply.rows;
    return row === undefined ? null : { sessionId: id, caller: row.caller, request: parsed(row.request) };
  }

  /** Of all sessions, and of those whose failure lies at an ISO instant or after it. */
  async statusCounts(failedSince: string): Promise<StatusCounts> {
    const reply = await this.#ask({ op: 'statusCounts', id: this.#nextId++, failedSince });
    if (reply.kind !== 'statusCounts') throw unexpected(reply);
    return reply;
  }

  /** Ended sessions whose end lies before an ISO instant, the oldest first; at most `limit`. */
  endedBefore(instant: string, limit: number): Promise<readonly StoredSession[]> {
    return this.#sessions({ op: 'endedBefore', id: this.#nextId++, instant, limit: pageLimit(limit) });
  }

  /** The batches with sessions that have not ended. */
  async openBatches(): Promise<readonly OpenBatch[]> {
    const reply = await this.#ask({ op: 'openBatches', id: this.#nextId++ });
    if (reply.kind !== 'openBatches') throw unexpected(reply);
    return reply.rows;
  }

  async batchCounts(id: string): Promise<BatchCounts> {
    const reply = await this.#ask({ op: 'batchCounts', id: this.#nextId++, batchId: id });
    if (reply.kind !== 'counts') throw unexpected(reply);
    return reply;
  }

  /** How many sessions of a batch had ended by a sequence number. */
  async batchEnds(id: string, upTo: number): Promise<number> {
    const reply = await this.#ask({ op: 'batchEnds', id: this.#nextId++, batchId: id, upTo });
    if (reply.kind !== 'number') throw unexpected(reply);
    return reply.value;
  }

  /** Takes a batch and all its sessions away, for good. Settles when that is on disk; an unknown id is no error. */
  async removeBatch(id: string): Promise<void> {
    await this.#ask({ op: 'removeBatch', id: this.#nextId++, batchId: id }, 1);
  }

  /** Runs of flows, the newest first; at most `limit`. They are there too when their session was removed. */
  async flowRuns(query: FlowRunQuery): Promise<readonly FlowRun[]> {
    const reply = await this.#ask({ op: 'flowRuns', id: this.#nextId++, query });
    if (reply.kind !== 'flowRuns') throw unexpected(reply);
    return reply.rows;
  }

  /** Forgets runs of flows that ended before, batches that came before and have no session left, and webhooks of no session. */
  async prune(before: { readonly runsBefore: string; readonly batchesBefore: string }): Promise<void> {
    await this.#ask({ op: 'prune', id: this.#nextId++, ...before }, 1);
  }

  /** What a submission's key stands for; null where it is free. */
  async submission(key: string): Promise<Submission | null> {
    const reply = await this.#ask({ op: 'submission', id: this.#nextId++, key });
    if (reply.kind !== 'submissions') throw unexpected(reply);
    return reply.rows[0] ?? null;
  }

  /** What is kept of a kind, by id, or that part whose ids begin so. What is damaged is undefined. */
  async kept(kind: KeptKind, prefix = ''): Promise<readonly { readonly id: string; readonly data: unknown }[]> {
    const reply = await this.#ask({ op: 'kept', id: this.#nextId++, kind, prefix });
    if (reply.kind !== 'kept') throw unexpected(reply);
    return reply.rows.map(({ id, data }) => ({ id, data: parsed(data) }));
  }

  /** Events with a number above `after`, in order; fewer than `limit` (10,000 at most) only where there are no more. */
  async events(query: EventQuery): Promise<readonly JournalEvent[]> {
    const limit = pageLimit(query.limit);
    const events: JournalEvent[] = [];
    let { after } = query;
    for (let more = true; more; ) {
      const part = { ...query, after, limit: limit - events.length };
      const reply = await this.#ask({ op: 'events', id: this.#nextId++, query: part });
      if (reply.kind !== 'events') throw unexpected(reply);
      for (const row of reply.rows) events.push(fromEventRow(row));
      after = reply.rows.at(-1)?.seq ?? after;
      more = reply.more && events.length < limit;
    }
    return events;
  }

  /**
   * The same as rows, and one page of them alone: it ends after `limit` events or `characters` of data, and then `more`
   * says that there may be others.
   */
  async eventRows(query: EventQuery): Promise<{ readonly rows: readonly NumberedEventRow[]; readonly more: boolean }> {
    const limit = pageLimit(query.limit);
    const reply = await this.#ask({ op: 'events', id: this.#nextId++, query: { ...query, limit } });
    if (reply.kind !== 'events') throw unexpected(reply);
    return { rows: reply.rows, more: reply.more || reply.rows.length >= limit };
  }

  /** Why nothing can be written, as the last write failed of it; null while writes succeed. See {@link WriteHealth.fault}. */
  writeFault(): TroupeError | null {
    return this.#failure ?? this.#health.fault();
  }

  async #probe(): Promise<void> {
    const probe = { kind: 'probe', id: 'disk' } as const;
    await this.write({ kept: [{ ...probe, data: 'x'.repeat(PROBE_CHARACTERS) }] });
    await this.write({ kept: [{ ...probe, data: null }] });
  }

  /** The newest event's number, 0 where there was never one. What `write` has settled is counted. */
  lastSeq(): number {
    return this.#lastSeq;
  }

  /** Takes a session's record and events away, for good. Settles when that is on disk; an unknown id is no error. */
  async remove(id: SessionId): Promise<void> {
    await this.#ask({ op: 'remove', id: this.#nextId++, sessionId: id }, 1);
  }

  /** Puts on disk what was accepted, closes the file and ends the thread. Idempotent; never rejects. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.#failure === null) {
      const reply = this.#ask({ op: 'close', id: this.#nextId++ });
      this.#state = 'closing';
      const late = () => new TroupeError('UNAVAILABLE', `The journal did not close within ${CLOSE_DEADLINE_MS} ms`);
      await withDeadline(reply, { ms: CLOSE_DEADLINE_MS, late }).catch((error) => this.#log(encodeError(error).error));
    }
    this.#state = 'closed';
    await this.#worker.terminate();
    this.#rejectAll(new TroupeError('UNAVAILABLE', 'The journal is closed'));
  }

  async #sessions(request: JournalRequest): Promise<readonly StoredSession[]> {
    return (await this.#sessionRows(request)).map(fromSessionRow);
  }

  async #sessionRows(request: JournalRequest): Promise<readonly SessionRow[]> {
    const reply = await this.#ask(request);
    if (reply.kind !== 'sessions') throw unexpected(reply);
    return reply.rows;
  }

  #ask(request: JournalRequest, rows = 1, characters = 0): Promise<JournalReply> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    if (this.#state !== 'open') return Promise.reject(new TroupeError('UNAVAILABLE', 'The journal is closed'));
    const full =
      this.#waitingRows + rows > MAX_WAITING_ROWS || this.#waitingCharacters + characters > MAX_WAITING_CHARACTERS;
    if (full && this.#waitingRows > 0 && request.op !== 'close') {
      return Promise.reject(new TroupeError('UNAVAILABLE', 'The disk does not keep up: too much waits to be written'));
    }
    this.#waitingRows += rows;
    this.#waitingCharacters += characters;
    // One message for all calls of a turn: posting costs more than what is posted.
    if (this.#outbox.push(request) === 1) queueMicrotask(() => this.#flush());
    return new Promise((resolve, reject) => {
      this.#pending.set(request.id, { resolve, reject, rows, characters });
    });
  }

  #flush(): void {
    const requests = this.#outbox;
    this.#outbox = [];
    if (this.#failure === null && requests.length > 0) this.#worker.postMessage(requests);
  }

  #settle(replies: readonly JournalReply[]): void {
    for (const reply of replies) {
      const pending = this.#pending.get(reply.id);
      if (pending === undefined) continue;
      this.#pending.delete(reply.id);
      this.#waitingRows -= pending.rows;
      this.#waitingCharacters -= pending.characters;
      if (reply.kind === 'failed') {
        const error = decodeError(reply.error);
        if (reply.write === true) this.#health.failed(error);
        pending.reject(error);
        continue;
      }
      if (reply.kind === 'done') this.#health.succeeded();
      pending.resolve(reply);
    }
  }

  #fail(reason: string): void {
    if (this.#state !== 'open' || this.#failure !== null) {
      // A thread that ends while it closes has done so after its last answer, or will never give one.
      this.#rejectAll(new TroupeError('UNAVAILABLE', reason));
      return;
    }
    const failure = new TroupeError('UNAVAILABLE', reason);
    this.#failure = failure;
    this.#log(reason);
    this.#rejectAll(failure);
    this.#reportFailure(failure);
  }

  #rejectAll(error: TroupeError): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    this.#outbox = [];
    this.#waitingRows = 0;
    this.#waitingCharacters = 0;
    for (const { reject } of pending) reject(error);
  }
}

function pageLimit(limit: number): number {
  return Math.max(1, Math.min(Math.trunc(limit), MAX_PAGE));
}

function unexpected(reply: JournalReply): TroupeError {
  return new TroupeError('INTERNAL', `The journal's thread answered with ${reply.kind}`);
}
