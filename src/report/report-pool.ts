import { MessageChannel } from 'node:worker_threads';
import { limitSignal, onAbort, settlesWithin, startLimit } from '../base/deadline.js';
import { encodeError, TroupeError } from '../protocol/errors.js';
import type { JournalEvent } from '../protocol/events.js';
import type { SessionRecord } from '../protocol/session.js';
import { TaskThreads } from '../threads/task-threads.js';
import { sendPages } from './event-pages.js';
import type { BatchJUnitTask } from './junit.js';
import type { ReportTask } from './report.thread.js';

/**
 * Two, so that reports leave processor time to the sessions, and a second report need not wait for a long first one.
 */
const MAX_THREADS = 2;
const IDLE_MS = 10_000;
/** Reports that wait for a thread. */
const MAX_WAITING = 10_000;
/** A report that takes longer is aborted. */
const DEADLINE_MS = 120_000;
const CLOSE_MS = 10_000;
/** A thread that needs more memory fails only its own report. */
const HEAP_MB = 768;

/**
 * The threads that create reports. None runs while there is nothing to do. When 10,000 reports wait, further ones are
 * rejected with UNAVAILABLE. Owned by the service, which closes it after everything that writes artifacts.
 */
export class ReportPool {
  readonly #threads: TaskThreads<ReportTask | BatchJUnitTask, string>;
  readonly #underWay = new Set<Promise<void>>();
  #closed: Promise<void> | null = null;

  /** @param entry of its threads */
  constructor(entry = new URL('./report.thread.js', import.meta.url)) {
    this.#threads = new TaskThreads({
      entry,
      name: 'report',
      part: 'reports',
      size: MAX_THREADS,
      idleMs: IDLE_MS,
      maxWaiting: MAX_WAITING,
      heapMb: HEAP_MB,
    });
  }

  /**
   * Writes session.json, transcript.jsonl, report.json, report.html, and report.junit.xml into `dir`, which is created
   * if
   * needed. Each file is replaced atomically; only one call per folder at a time. The events are read when the thread
   * requests them.
   * @throws UNAVAILABLE if the pool is full or closed, the deadline passes, or the disk fails; the error of reading
   * `events`
   */
  produce(dir: string, record: SessionRecord, events: AsyncIterable<JournalEvent>): Promise<void> {
    if (this.#closed !== null) return Promise.reject(new TroupeError('UNAVAILABLE', 'The service is stopping'));
    const producing = this.#produce(dir, record, events);
    const ended = producing.catch(() => undefined).finally(() => this.#underWay.delete(ended));
    this.#underWay.add(ended);
    return producing;
  }

  /**
   * Creates one JUnit file of many sessions, from the reports in their folders.
   * @throws UNAVAILABLE if the pool is full or closed, or the deadline passes
   */
  async collect(task: BatchJUnitTask): Promise<string> {
    if (this.#closed !== null) throw new TroupeError('UNAVAILABLE', 'The service is stopping');
    const deadline = limitSignal(DEADLINE_MS);
    try {
      return await this.#threads.run(task, { call: 'collect', signal: deadline });
    } catch (error) {
      throw poolError(error, deadline.aborted);
    }
  }

  async #produce(dir: string, record: SessionRecord, events: AsyncIterable<JournalEvent>): Promise<void> {
    const { port1, port2 } = new MessageChannel();
    const deadline = new AbortController();
    const done = new AbortController();
    // The deadline counts from the thread's first message, when it starts to work.
    port1.once('message', () =>
      onAbort(
        done.signal,
        startLimit(DEADLINE_MS, () => deadline.abort()),
      ),
    );
    const task = { dir, record, port: port2 };
    const made = this.#threads
      .run(task, { call: 'produce', transfer: [port2], signal: deadline.signal })
      .finally(() => done.abort());
    const sent = sendPages(port1, events, done.signal).finally(() => done.signal.aborted || port1.close());
    try {
      // If reading the events fails, that error is the cause of the thread's error.
      const [sending, making] = await Promise.allSettled([sent, made]);
      if (sending.status === 'rejected') throw sending.reason;
      if (making.status === 'rejected') throw poolError(making.reason, deadline.signal.aborted);
    } finally {
      port1.close();
    }
  }

  /** Waits up to 10 s for reports in progress, and ends the threads. Idempotent; never rejects. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await settlesWithin(Promise.all(this.#underWay), CLOSE_MS);
    await this.#threads.close();
  }
}

function poolError(thrown: unknown, late: boolean): TroupeError {
  if (late)
    return new TroupeError('UNAVAILABLE', `The report was not finished within ${DEADLINE_MS / 1000} s; try again`);
  const { code, error } = encodeError(thrown);
  // An error without one of our codes is the thread's.
  return new TroupeError(code === 'INTERNAL' ? 'UNAVAILABLE' : code, `The report failed: ${error}`, undefined, {
    cause: thrown,
  });
}
