import type { Worker } from 'node:worker_threads';
import { withDeadline } from '../base/deadline.js';
import { deferred } from '../base/deferred.js';
import { decodeError, encodeError, TroupeError } from '../protocol/errors.js';
import type { JournalEvent } from '../protocol/events.js';
import { SessionId, type SessionRecord } from '../protocol/session.js';
import type { JoinedAttempt, JoinedChange, JoinedJob, JoinedSelection, SuiteChange } from './joined-changes.js';
import { type JournalBatch, toWrite } from './journal-batch.js';
import { firstMessage, startWorker } from './journal-worker.js';
import type {
  BatchCounts,
  BatchQuery,
  BatchRow,
  EventQuery,
  EventRowPage,
  FlowRun,
  FlowRunQuery,
  JournalOpened,
  JournalPlace,
  JournalReads,
  JournalReply,
  JournalRequest,
  KeyValueKind,
  OpenBatch,
  PruneBefore,
  SessionQuery,
  StatusCounts,
  Submission,
} from './messages.js';
import {
  type DamagedSession,
  fromEventRow,
  fromSessionRow,
  parseJson,
  readSessionRow,
  type StoredRequest,
  type StoredSession,
  toSessionRow,
  type WaitingSession,
} from './rows.js';
import { describeSalvaged, replaceDamaged, type SalvagedTable } from './sqlite/salvage.js';
import { WriteHealth } from './write-health.js';

export type { JournalBatch, KeyValue } from './journal-batch.js';
export type { BatchCounts, FlowRun, SessionQuery, Submission, WriteRights } from './messages.js';
export type { DamagedSession, StoredRequest, StoredSession, WaitingSession } from './rows.js';

const CLOSE_DEADLINE_MS = 10_000;
/** Bounds on writes that wait for the disk: rows in total, and characters of their JSON. */
const MAX_WAITING_ROWS = 100_000;
const MAX_WAITING_CHARACTERS = 64 * 1024 * 1024;
/** More than the write-ahead log may have left over when the disk is full. */
const PROBE_CHARACTERS = 64 * 1024;
/** The most sessions or events that one call returns. */
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
 * The durable store of sessions and their events: a handle of the journal's thread. The service owns it and must close
 * it. Only one running service can have a file open.
 *
 * Writes that arrive during a commit share the next transaction. At most 100,000 rows and 64 Mi characters may wait; a
 * write beyond that is rejected with UNAVAILABLE (a single larger one is accepted if nothing waits), so a writer that
 * must not lose data has to await its writes. If the thread dies, every call is rejected with UNAVAILABLE at once, and
 * {@link Journal.failed} settles.
 */
export class Journal {
  /**
   * 16 hexadecimal digits, created once with the file. Distinguishes our browsers and containers from another
   * service's.
   */
  readonly instance: string;
  /** Resolves with the reason if the journal's thread dies. Never rejects; stays pending after a normal close. */
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
    worker.on('error', (error) => this.#fail(`The journal's thread failed: ${encodeError(error).error}`));
    worker.on('exit', (code) => this.#fail(`The journal's thread exited with code ${code}`));
  }

  /**
   * Opens the file, or creates it (its folder must exist). A damaged file is renamed to `<file>.damaged-<time>`, its
   * readable rows are copied to a new file, and `log` reports how many could not be read.
   * @throws UNAVAILABLE if the file is not a database or belongs to another program, was written by a newer version, is
   *   open in another running service, or cannot be written; the message names the file and the remedy
   */
  static async open(options: JournalPlace & { log?(line: string): void }): Promise<Journal> {
    const { file, database, isShared, log = () => {} } = options;
    const worker = startWorker({ file, database, isShared });
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
    // The thread's connections to the files close only when it has terminated.
    await worker.terminate();
    log(describeSalvaged(file, replaceDamaged(file), tables));
    return await Journal.open(options);
  }

  /**
   * Writes a batch in one transaction: stores its records (inserts new ids, replaces known ones), then numbers its
   * events
   * in order. Resolves once everything is on disk, with the number of the first event (0 if there is none). Events of
   * earlier calls have lower numbers.
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
   * A page of sessions, newest or oldest first, at most 10,000. Sessions created at the same instant keep their order
   * from
   * page to page.
   * @throws INVALID_REQUEST if `before` names no session
   */
  async list(query: SessionQuery): Promise<readonly StoredSession[]> {
    const rows = await this.#read('list', { ...query, limit: pageLimit(query.limit) });
    return rows.map(fromSessionRow);
  }

  /**
   * Running sessions in the order in which they were accepted, and separately those, running or queued, with damaged
   * rows.
   */
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

  /** Queued sessions in the order in which they were accepted. Does not read their requests, which may be large. */
  async waiting(): Promise<readonly WaitingSession[]> {
    return (await this.#read('waiting')).flatMap(({ id, ...row }) => {
      const known = SessionId.safeParse(id);
      return known.success ? [{ ...row, id: known.data }] : [];
    });
  }

  /**
   * A session's stored request; null if the session has ended or never existed. `request` is undefined if it is
   * damaged.
   */
  async request(id: SessionId): Promise<StoredRequest | null> {
    const [row] = await this.#read('request', id);
    return row === undefined ? null : { sessionId: id, caller: row.caller, request: parseJson(row.request) };
  }

  /** How many sessions have each status, and how many failed at or after an ISO instant. */
  statusCounts(failedSince: string): Promise<StatusCounts> {
    return this.#read('statusCounts', failedSince);
  }

  /** Sessions that ended before an ISO instant, oldest first; at most `limit`. */
  async endedBefore(instant: string, limit: number): Promise<readonly StoredSession[]> {
    return (await this.#read('endedBefore', instant, pageLimit(limit))).map(fromSessionRow);
  }

  /** Batches that have sessions which have not ended. */
  openBatches(): Promise<readonly OpenBatch[]> {
    return this.#read('openBatches');
  }

  batchCounts(id: string): Promise<BatchCounts> {
    return this.#read('batchCounts', id);
  }

  /**
   * A page of batches, newest first, at most 10,000, with the counts of their sessions.
   * @throws INVALID_REQUEST if `before` names no batch
   */
  async batchPage(query: BatchQuery): Promise<readonly (Omit<BatchRow, 'data'> & { readonly data: unknown })[]> {
    const rows = await this.#read('batchPage', { ...query, limit: pageLimit(query.limit) });
    return rows.map((row) => ({ ...row, data: parseJson(row.data) }));
  }

  /** How many sessions of a batch had ended at sequence number `upTo`. */
  batchEnds(id: string, upTo: number): Promise<number> {
    return this.#read('batchEnds', id, upTo);
  }

  /** Changes joined batches in one transaction, on disk when this resolves. @returns see `JoinedStore` */
  async changeJoined(change: JoinedChange): Promise<number> {
    return Number(await this.#ask({ op: 'joined', change }));
  }

  /** The time that leases are measured with: see `JoinedStore.now`. */
  joinedNow(nowMs: number): Promise<number> {
    return this.#read('joinedNow', nowMs);
  }

  /** Joined batches that have expired, or claims of which have, and that a change is to end; at most `DUE_AT_ONCE`. */
  joinedDue(nowMs: number): Promise<readonly string[]> {
    return this.#read('joinedDue', nowMs);
  }

  /** The jobs of a joined batch, in order: all, or that of one number. */
  joinedJobs(batchId: string, job?: number): Promise<readonly JoinedJob[]> {
    return this.#read('joinedJobs', batchId, job);
  }

  /** The attempts at the jobs of a joined batch, in order: all, or the selected one. */
  joinedAttempts(batchId: string, only?: JoinedSelection): Promise<readonly JoinedAttempt[]> {
    return this.#read('joinedAttempts', batchId, only);
  }

  /** Changes runs of suites in one transaction, on disk when this resolves. @returns see `SuiteStore` */
  async changeSuite(change: SuiteChange): Promise<number> {
    return Number(await this.#ask({ op: 'suite', change }));
  }

  /** Runs of suites whose lease is over, and that a change is to end; at most `DUE_AT_ONCE`. */
  suitesDue(nowMs: number): Promise<readonly string[]> {
    return this.#read('suitesDue', nowMs);
  }

  /** The tests of a run of a suite: JSON texts, in the order in which they were first reported. */
  suiteTests(batchId: string): Promise<readonly string[]> {
    return this.#read('suiteTests', batchId);
  }

  /** Permanently removes a batch and all its sessions. Resolves once that is on disk; an unknown id is not an error. */
  async removeBatch(id: string): Promise<void> {
    await this.#ask({ op: 'removeBatch', batchId: id }, 1);
  }

  /** Flow runs, newest first; at most `limit`. A run outlives its session's removal. */
  flowRuns(query: FlowRunQuery): Promise<readonly FlowRun[]> {
    return this.#read('flowRuns', query);
  }

  /** Removes old flow runs, old batches without sessions, and webhook messages without a session. */
  async prune(before: PruneBefore): Promise<void> {
    await this.#ask({ op: 'prune', ...before }, 1);
  }

  /** The submission with this idempotency key; null if the key is free. */
  async submission(key: string): Promise<Submission | null> {
    const [found] = await this.#read('submission', key);
    return found ?? null;
  }

  /** Key-value entries of a kind whose ids begin with `prefix`, sorted by id. `data` is undefined if it is damaged. */
  async keyValues(
    kind: KeyValueKind,
    prefix = '',
  ): Promise<readonly { readonly id: string; readonly data: unknown }[]> {
    return (await this.#read('keyValues', kind, prefix)).map(({ id, data }) => ({ id, data: parseJson(data) }));
  }

  /**
   * Events with a number above `after`, in order. Returns fewer than `limit` (at most 10,000) only if there are no
   * more.
   */
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
   * One page of event rows: it ends after `limit` events or `characters` of data, and then `more` is true, since there
   * may
   * be others.
   */
  async eventRows(query: EventQuery): Promise<EventRowPage> {
    const limit = pageLimit(query.limit);
    const { rows, more } = await this.#read('events', { ...query, limit });
    return { rows, more: more || rows.length >= limit };
  }

  /** Why the last write failed; null while writes succeed. See {@link WriteHealth.fault}. */
  writeFault(): TroupeError | null {
    return this.#failure ?? this.#health.fault();
  }

  async #probe(): Promise<void> {
    const probe = { kind: 'probe', id: 'disk' } as const;
    await this.write({ keyValues: [{ ...probe, data: 'x'.repeat(PROBE_CHARACTERS) }] });
    await this.write({ keyValues: [{ ...probe, data: null }] });
  }

  /** The newest event's number among settled writes; 0 if there was never one. */
  lastSeq(): number {
    return this.#lastSeq;
  }

  /**
   * Replaces the record of a session that has ended. Resolves once that is on disk; does nothing if the session was
   * removed.
   */
  async amend(record: SessionRecord): Promise<void> {
    const { record: text } = toSessionRow({ record, lease: null });
    await this.#ask({ op: 'amend', sessionId: record.id, record: text }, 1, text.length);
  }

  /**
   * Permanently removes a session's record and events. Resolves once that is on disk; an unknown id is not an error.
   */
  async remove(id: SessionId): Promise<void> {
    await this.#ask({ op: 'remove', sessionId: id }, 1);
  }

  /** Writes what was accepted to disk, closes the file, and ends the thread. Idempotent; never rejects. */
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
    const isKept = Reflect.get(Object(args[0]), 'isKept') === true;
    return this.#ask({ op: 'read', name, args, isKept }) as ReturnType<JournalReads[R]>; // The thread calls the method named R.
  }

  #ask(request: Unnumbered<JournalRequest>, rows = 1, characters = 0): Promise<unknown> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    if (this.#state !== 'open') return Promise.reject(new TroupeError('UNAVAILABLE', 'The journal is closed'));
    const full =
      this.#waitingRows + rows > MAX_WAITING_ROWS || this.#waitingCharacters + characters > MAX_WAITING_CHARACTERS;
    if (full && this.#waitingRows > 0 && request.op !== 'close') {
      return Promise.reject(new TroupeError('UNAVAILABLE', 'The disk does not keep up: too many writes are waiting'));
    }
    this.#waitingRows += rows;
    this.#waitingCharacters += characters;
    // All calls of one turn share one message: posting costs more than its content.
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
      const error = 'error' in reply ? decodeError(reply.error) : null;
      if (pending !== undefined && reply.wrote) this.#health.note(error);
      if (pending === undefined || 'waits' in reply) continue;
      this.#pending.delete(reply.id);
      this.#waitingRows -= pending.rows;
      this.#waitingCharacters -= pending.characters;
      if ('value' in reply) pending.resolve(reply.value);
      else if (error !== null) pending.reject(error);
    }
  }

  #fail(reason: string): void {
    if (this.#state !== 'open' || this.#failure !== null) {
      // The thread ended during the close: after its last reply, or without one that is still awaited.
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
