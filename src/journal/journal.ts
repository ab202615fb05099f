import type { Worker } from 'node:worker_threads';
import { withDeadline } from '../base/deadline.js';
import { deferred } from '../base/deferred.js';
import { decodeError, encodeError, TroupeError } from '../protocol/errors.js';
import type { JournalEvent } from '../protocol/events.js';
import { SessionId } from '../protocol/session.js';
import { type JournalBatch, toWrite } from './journal-batch.js';
import { firstMessage, startWorker } from './journal-worker.js';
import type {
  BatchCounts,
  EventQuery,
  EventRowPage,
  FlowRun,
  FlowRunQuery,
  JournalOpened,
  JournalReads,
  JournalReply,
  JournalRequest,
  KeptKind,
  OpenBatch,
  SessionQuery,
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
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly rows: number;
  readonly characters: number;
}

type Unnumbered<T> = T extends JournalRequest ? Omit<T, 'id'> : never;

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
  readonly #failed = deferred<TroupeError>();
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
  #closed: Promise<void> | null = null;

  private constructor(worker: Worker, opened: JournalOpened & { opened: true }, log: (line: string) => void) {
    this.#worker = worker;
    this.instance = opened.instance;
    this.#lastSeq = opened.lastSeq;
    this.#log = log;
    this.failed = this.#failed.promise;
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
    const firstSeq = Number(await this.#ask({ op: 'write', ...message }, rows, characters));
    if (events.length > 0) this.#lastSeq = Math.max(this.#lastSeq, firstSeq + events.length - 1);
    return firstSeq;
  }

  async get(id: SessionId): Promise<StoredSession | null> {
    const [row] = await this.#read('get', id);
    return row === undefined ? null : fromSessionRow(row);
  }

  /**
   * Newest first, or oldest first; sessions of the same instant stay in their order from page to page. At most 10,000.
   * @throws INVALID_REQUEST when `before` names no session
   */
  async list(query: SessionQuery): Promise<readonly StoredSession[]> {
    const rows = await this.#read('list', { ...query, limit: pageLimit(query.limit) });
    return rows.map(fromSessionRow);
  }

  /** The sessions that run, in the order in which they were accepted; apart those that run or wait and cannot be read. */
  async running(): Promise<{
    readonly sessions: readonly StoredSession[];
    readonly damaged: readonly DamagedSession[];
  }> {
    const rows = (await this.#read('running')).map(readSessionRow);
    return {
      sessions: rows.flatMap((read) => ('lease' in read ? [read] : [])),
      damaged: rows.flatMap((read) => ('lease' in read ? [] : [read])),
    };
  }

  /** The sessions that are queued, in the order in which they were accepted. Reads nothing of them that may be large. */
  async waiting(): Promise<readonly WaitingSession[]> {
    return (await this.#read('waiting')).flatMap(({ id, ...row }) => {
      const known = SessionId.safeParse(id);
      return known.success ? [{ ...row, id: known.data }] : [];
    });
  }

  /** What a session was asked for; null where it has ended, or never was. A damaged one is undefined. */
  async request(id: SessionId): Promise<StoredRequest | null> {
    const [row] = await this.#read('request', id);
    return row === undefined ? null : { sessionId: id, caller: row.caller, request: parsed(row.request) };
  }

  /** Of all sessions, and of those whose failure lies at an ISO instant or after it. */
  statusCounts(failedSince: string): Promise<StatusCounts> {
    return this.#read('statusCounts', failedSince);
  }

  /** Ended sessions whose end lies before an ISO instant, the oldest first; at most `limit`. */
  async endedBefore(instant: string, limit: number): Promise<readonly StoredSession[]> {
    return (await this.#read('endedBefore', instant, pageLimit(limit))).map(fromSessionRow);
  }

  /** The batches with sessions that have not ended. */
  openBatches(): Promise<readonly OpenBatch[]> {
    return this.#read('openBatches');
  }

  batchCounts(id: string): Promise<BatchCounts> {
    return this.#read('batchCounts', id);
  }

  /** How many sessions of a batch had ended by a sequence number. */
  batchEnds(id: string, upTo: number): Promise<number> {
    return this.#read('batchEnds', id, upTo);
  }

  /** Takes a batch and all its sessions away, for good. Settles when that is on disk; an unknown id is no error. */
  async removeBatch(id: string): Promise<void> {
    await this.#ask({ op: 'removeBatch', batchId: id }, 1);
  }

  /** Runs of flows, the newest first; at most `limit`. They are there too when their session was removed. */
  flowRuns(query: FlowRunQuery): Promise<readonly FlowRun[]> {
    return this.#read('flowRuns', query);
  }

  /** Forgets runs of flows that ended before, batches that came before and have no session left, and webhooks of no session. */
  async prune(before: { readonly runsBefore: string; readonly batchesBefore: string }): Promise<void> {
    await this.#ask({ op: 'prune', ...before }, 1);
  }

  /** What a submission's key stands for; null where it is free. */
  async submission(key: string): Promise<Submission | null> {
    const [found] = await this.#read('submission', key);
    return found ?? null;
  }

  /** What is kept of a kind, by id, or that part whose ids begin so. What is damaged is undefined. */
  async kept(kind: KeptKind, prefix = ''): Promise<readonly { readonly id: string; readonly data: unknown }[]> {
    return (await this.#read('kept', kind, prefix)).map(({ id, data }) => ({ id, data: parsed(data) }));
  }

  /** Events with a number above `after`, in order; fewer than `limit` (10,000 at most) only where there are no more. */
  async events(query: EventQuery): Promise<readonly JournalEvent[]> {
    const limit = pageLimit(query.limit);
    const events: JournalEvent[] = [];
    let { after } = query;
    for (let more = true; more; ) {
      const part = { ...query, after, limit: limit - events.length };
      const reply = await this.#read('events', part);
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
  async eventRows(query: EventQuery): Promise<EventRowPage> {
    const limit = pageLimit(query.limit);
    const { rows, more } = await this.#read('events', { ...query, limit });
    return { rows, more: more || rows.length >= limit };
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
    await this.#ask({ op: 'remove', sessionId: id }, 1);
  }

  /** Puts on disk what was accepted, closes the file and ends the thread. Idempotent; never rejects. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.#failure === null) {
      const reply = this.#ask({ op: 'close' });
      this.#state = 'closing';
      const late = () => new TroupeError('UNAVAILABLE', `The journal did not close within ${CLOSE_DEADLINE_MS} ms`);
      await withDeadline(reply, { ms: CLOSE_DEADLINE_MS, late }).catch((error) => this.#log(encodeError(error).error));
    }
    this.#state = 'closed';
    await this.#worker.terminate();
    this.#rejectAll(new TroupeError('UNAVAILABLE', 'The journal is closed'));
  }

  #read<R extends keyof JournalReads>(name: R, ...args: Parameters<JournalReads[R]>): ReturnType<JournalReads[R]> {
    return this.#ask({ op: 'read', name, args }) as ReturnType<JournalReads[R]>; // The thread calls what R names.
  }

  #ask(request: Unnumbered<JournalRequest>, rows = 1, characters = 0): Promise<unknown> {
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
    const id = this.#nextId++;
    if (this.#outbox.push({ ...request, id }) === 1) queueMicrotask(() => this.#flush());
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, rows, characters });
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
      if ('error' in reply) {
        const error = decodeError(reply.error);
        if (reply.wrote) this.#health.failed(error);
        pending.reject(error);
        continue;
      }
      if (reply.wrote) this.#health.succeeded();
      pending.resolve(reply.value);
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
    this.#failed.resolve(failure);
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
