import type { Worker } from 'node:worker_threads';
import { pause, stretched, withDeadline } from '../base/deadline.js';
import { deferred } from '../base/deferred.js';
import { sentenceOf } from '../base/system-fault.js';
import { decodeError, encodeError, TroupeError } from '../protocol/errors.js';
import type { JournalEvent } from '../protocol/events.js';
import { SessionId, type SessionRecord } from '../protocol/session.js';
import { endReason } from '../threads/thread-end.js';
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
/** The first pause before the thread is started again, the longest, and how long it is tried; in milliseconds. */
const REOPEN_PAUSE_MS = 100;
const MAX_REOPEN_PAUSE_MS = 10_000;
const REOPEN_MS = 600_000;
/** A thread that ends within this time of its start ends soon, in milliseconds. */
const SOON_MS = 60_000;
/** A request that several threads had when they ended is not given to another one. */
const MAX_LOSSES = 2;
/** Bounds on writes that wait for the disk: rows in total, and characters of their JSON. */
const MAX_WAITING_ROWS = 100_000;
const MAX_WAITING_CHARACTERS = 64 * 1024 * 1024;
/** More than the write-ahead log may have left over when the disk is full. */
const PROBE_CHARACTERS = 64 * 1024;
/** The most sessions or events that one call returns. */
const MAX_PAGE = 10_000;

interface Pending {
  readonly request: JournalRequest;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly rows: number;
  readonly characters: number;
  /** How many threads ended while they had it. */
  losses: number;
  /** Rejected, and not to be sent again; it is known only from the file whether it was written. */
  isGivenUp: boolean;
}

type Unnumbered<T> = T extends JournalRequest ? Omit<T, 'id'> : never;

type State = 'open' | 'closing' | 'closed';

/** A thread that ended, until another one has opened the file. */
interface Outage {
  readonly sinceMs: number;
  /** Null during the first try: calls wait for it. */
  error: TroupeError | null;
}

/**
 * The durable store of sessions and their events: a handle of the journal's thread. The service owns it and must close
 * it. Only one running service can have a file open.
 *
 * Writes that arrive during a commit share the next transaction. At most 100,000 rows and 64 Mi characters may wait; a
 * write beyond that is rejected with UNAVAILABLE (a single larger one is accepted if nothing waits), so a writer that
 * must not lose data has to await its writes.
 *
 * If the thread dies, another one opens the file. Calls wait while that is tried for the first time, and are then
 * repeated in order, but for writes that the first thread committed: the number of the newest event tells which these
 * are. If it fails, reads and writes are rejected with UNAVAILABLE until it succeeds; those that are to be kept
 * (`isKept`) wait. With a database server, or after ten minutes, every call is rejected, and {@link Journal.failed}
 * settles.
 */
export class Journal {
  /**
   * 16 hexadecimal digits, created once with the file. Distinguishes our browsers and containers from another
   * service's.
   */
  readonly instance: string;
  /** Resolves with the reason if the journal cannot go on. Never rejects; stays pending after a normal close. */
  readonly failed: Promise<TroupeError>;
  readonly #failed = deferred<TroupeError>();
  readonly #start: () => Worker;
  /** The database is on a server. */
  readonly #isServed: boolean;
  #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  readonly #log: (line: string) => void;
  readonly #health = new WriteHealth(() => this.#probe());
  #outbox: JournalRequest[] = [];
  #nextId = 1;
  #waitingRows = 0;
  #waitingCharacters = 0;
  #lastSeq: number;
  /** The number of the newest event in the replies so far. */
  #repliedSeq: number;
  #state: State = 'open';
  #outage: Outage | null = null;
  /** Never rejects. */
  #reopening: Promise<void> = Promise.resolve();
  readonly #closing = new AbortController();
  #openedAtMs = performance.now();
  /** How many threads ended in a row, each soon after its start. */
  #deaths = 0;
  #failure: TroupeError | null = null;
  #closed: Promise<void> | null = null;

  private constructor(
    start: () => Worker,
    isServed: boolean,
    worker: Worker,
    opened: JournalOpened & { opened: true },
    log: (line: string) => void,
  ) {
    this.#start = start;
    this.#isServed = isServed;
    this.#worker = worker;
    this.instance = opened.instance;
    this.#lastSeq = opened.lastSeq;
    this.#repliedSeq = opened.lastSeq;
    this.#log = log;
    this.failed = this.#failed.promise;
    this.#listen(worker);
  }

  #listen(worker: Worker): void {
    let reason: string | null = null;
    worker.on('message', (replies: readonly JournalReply[]) => this.#settle(replies));
    worker.on('error', (error) => {
      reason = `The journal's thread failed: ${endReason(error)}`;
    });
    // After the last replies.
    worker.once('exit', (code) => this.#ended(reason ?? `The journal's thread exited with code ${code}`));
  }

  /**
   * Opens the file, or creates it (its folder must exist). A damaged file is renamed to `<file>.damaged-<time>`, its
   * readable rows are copied to a new file, and `log` reports how many could not be read.
   * @throws UNAVAILABLE if the file is not a database or belongs to another program, was written by a newer version, is
   *   open in another running service, or cannot be written; the message names the file and the remedy
   */
  static async open(options: JournalPlace & { log?(line: string): void; readonly entry?: URL }): Promise<Journal> {
    const { file, database, isShared, entry, log = () => {} } = options;
    const place = { file, database, isShared };
    const start = () => startWorker(place, entry);
    const worker = start();
    let tables: readonly SalvagedTable[];
    try {
      const opened = await firstMessage(worker);
      if (opened.opened === true) return new Journal(start, database !== undefined, worker, opened, log);
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
    return this.#failure ?? this.#outage?.error ?? this.#health.fault();
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
    if (this.#failure === null && this.#outage === null) {
      const reply = this.#ask({ op: 'close' });
      this.#state = 'closing';
      const late = () => new TroupeError('UNAVAILABLE', `The journal did not close within ${CLOSE_DEADLINE_MS} ms`);
      await withDeadline(reply, { ms: CLOSE_DEADLINE_MS, late }).catch((error) => this.#log(encodeError(error).error));
    }
    this.#state = 'closed';
    this.#closing.abort();
    await this.#reopening;
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
    const outage = this.#outage?.error ?? null;
    if (outage !== null && !isKept(request)) return Promise.reject(outage);
    const full =
      this.#waitingRows + rows > MAX_WAITING_ROWS || this.#waitingCharacters + characters > MAX_WAITING_CHARACTERS;
    if (full && this.#waitingRows > 0 && request.op !== 'close') {
      return Promise.reject(new TroupeError('UNAVAILABLE', 'The disk does not keep up: too many writes are waiting'));
    }
    this.#waitingRows += rows;
    this.#waitingCharacters += characters;
    // All calls of one turn share one message: posting costs more than its content.
    const id = this.#nextId++;
    const numbered: JournalRequest = { ...request, id };
    if (this.#outbox.push(numbered) === 1) queueMicrotask(() => this.#flush());
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { request: numbered, resolve, reject, rows, characters, losses: 0, isGivenUp: false });
    });
  }

  #flush(): void {
    // What waits for another thread is sent with all that is pending.
    if (this.#outage !== null) return;
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
      this.#take(reply.id, pending);
      if ('value' in reply) this.#resolve(pending, reply.value);
      else if (error !== null) pending.reject(error);
    }
  }

  #resolve(pending: Pending, value: unknown): void {
    const events = eventsOf(pending.request);
    if (events > 0) this.#repliedSeq = Math.max(this.#repliedSeq, Number(value) + events - 1);
    pending.resolve(value);
  }

  #take(id: number, pending: Pending): void {
    this.#pending.delete(id);
    this.#waitingRows -= pending.rows;
    this.#waitingCharacters -= pending.characters;
  }

  #refuse(id: number, pending: Pending, error: TroupeError): void {
    this.#take(id, pending);
    pending.reject(error);
  }

  #ended(reason: string): void {
    // A server's database has other writers, and an owner that the thread may have lost: the service starts anew.
    if (this.#state !== 'open' || this.#failure !== null || this.#isServed) {
      this.#fail(reason);
      return;
    }
    this.#log(`${reason}; it is started again`);
    for (const pending of this.#pending.values()) pending.losses += 1;
    this.#deaths = performance.now() - this.#openedAtMs > SOON_MS ? 0 : this.#deaths + 1;
    this.#reopening = this.#reopen(reason);
  }

  /** Never rejects. */
  async #reopen(reason: string): Promise<void> {
    const outage: Outage = { sinceMs: performance.now(), error: null };
    this.#outage = outage;
    this.#outbox = [];
    // A thread that ends each time soon after its start does not keep a core busy.
    const firstMs = this.#deaths === 0 ? 0 : Math.min(REOPEN_PAUSE_MS * 2 ** this.#deaths, MAX_REOPEN_PAUSE_MS);
    await pause(firstMs, { signal: this.#closing.signal }).catch(() => undefined);
    if (this.#closing.signal.aborted) return;
    for (let pauseMs = REOPEN_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_REOPEN_PAUSE_MS)) {
      const why = await this.#tryToReopen();
      if (why === null) return;
      const message = `${reason}, and cannot be started again: ${why}`;
      if (performance.now() - outage.sinceMs > stretched(REOPEN_MS)) {
        this.#outage = null;
        this.#fail(message);
        return;
      }
      if (outage.error === null) this.#log(message);
      const error = new TroupeError('UNAVAILABLE', message);
      outage.error = error;
      for (const pending of this.#pending.values()) {
        if (isKept(pending.request)) continue;
        pending.isGivenUp = true;
        pending.reject(error);
      }
      await pause(pauseMs, { signal: this.#closing.signal }).catch(() => undefined);
      if (this.#closing.signal.aborted) return;
    }
  }

  /** @returns why it failed; null if the journal is open again, or is being closed */
  async #tryToReopen(): Promise<string | null> {
    let worker: Worker;
    try {
      worker = this.#start();
    } catch (error) {
      return sentenceOf(error);
    }
    try {
      const opened = await firstMessage(worker);
      if (opened.opened === false) throw decodeError(opened.error);
      // Its rows are copied by a service that starts.
      if (opened.opened === 'damaged') throw new Error('the file is damaged; start the service again');
      if (opened.instance !== this.instance) throw new Error('the file is another one');
      if (this.#state === 'open') {
        this.#goOn(worker, opened.lastSeq);
        return null;
      }
    } catch (error) {
      await worker.terminate();
      return this.#state === 'open' ? endReason(error) : null;
    }
    await worker.terminate();
    return null;
  }

  /** @param lastSeq the number of the newest event in the file, after the replies that arrived */
  #goOn(worker: Worker, lastSeq: number): void {
    this.#worker = worker;
    this.#openedAtMs = performance.now();
    this.#listen(worker);
    this.#outage = null;
    const fault = this.#settleCommitted(lastSeq);
    if (fault !== null) {
      void worker.terminate();
      this.#fail(fault);
      return;
    }
    const lost = new TroupeError('UNAVAILABLE', 'The thread of the journal ended during the call; try again');
    for (const [id, pending] of [...this.#pending]) {
      if (pending.isGivenUp || pending.losses > MAX_LOSSES || !isRepeatable(pending.request)) {
        this.#refuse(id, pending, lost);
      }
    }
    this.#outbox = [...this.#pending.values()].map(({ request }) => request);
    this.#flush();
    this.#log('The journal is open again');
  }

  /**
   * Settles the writes that the thread committed without a reply. Requests are written in order, and each event has the
   * next number, so these are the first ones up to `lastSeq`.
   * @returns why the file cannot be what this journal wrote, or null
   */
  #settleCommitted(lastSeq: number): string | null {
    const written: [id: number, pending: Pending][] = [];
    let seq = this.#repliedSeq;
    for (const entry of this.#pending) {
      if (seq >= lastSeq) break;
      written.push(entry);
      seq += eventsOf(entry[1].request);
    }
    if (seq !== lastSeq) return `The journal has ${lastSeq} as its newest event, and not ${seq}`;
    const unknown = new TroupeError('UNAVAILABLE', 'The thread of the journal ended; the change may have been written');
    for (const [id, pending] of written) {
      const events = eventsOf(pending.request);
      if (events > 0) {
        this.#take(id, pending);
        this.#resolve(pending, this.#repliedSeq + 1);
      } else if (pending.request.op !== 'read') this.#refuse(id, pending, unknown);
    }
    return null;
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

function isKept(request: Unnumbered<JournalRequest>): boolean {
  return 'isKept' in request && request.isKept === true;
}

/** How many numbers of events a request takes. */
function eventsOf(request: JournalRequest): number {
  return request.op === 'write' ? request.events.length : 0;
}

/** Whether a request that may have been done already can be done again. Those with events are known to be undone. */
function isRepeatable(request: JournalRequest): boolean {
  return request.op !== 'joined' && request.op !== 'suite' && request.op !== 'close';
}

function pageLimit(limit: number): number {
  return Math.max(1, Math.min(Math.trunc(limit), MAX_PAGE));
}
