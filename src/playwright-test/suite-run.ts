import { answerAs } from '../client/answers.js';
import { Connection, type ConnectionOptions } from '../client/connection.js';
import {
  MAX_REPORTED_TESTS,
  mergeReports,
  type ReportedTest,
  SUITE_LEASE_S,
  type SuiteBatch,
  type SuiteReport,
  type SuiteRequest,
} from '../protocol/batches/suite.js';
import { counted } from '../protocol/counted.js';
import { TroupeError } from '../protocol/errors.js';
import { PRODUCT_NAME } from '../protocol/product-name.js';

/** No test waits longer for its run, in milliseconds. */
const QUICK_MS = 10_000;
/** What is left at the end of a process may take longer. */
const LAST_MS = 30_000;
/** After a failure nothing is sent for so long: tests do not wait for a service that is away. */
const PAUSE_MS = 10_000;
/** After these, the same request will not succeed either. */
const FINAL = ['NOT_FOUND', 'CLAIM_LOST', 'FORBIDDEN', 'UNAUTHORIZED', 'INVALID_REQUEST', 'METHOD_NOT_ALLOWED'];

/**
 * The run of a suite at the service. A suite needs no service for its own results, so nothing here rejects: what could not be
 * sent is sent with the next report, and {@link SuiteRun.close} says what is missing.
 */
export class SuiteRun {
  readonly #request: SuiteRequest;
  readonly #quick: Connection;
  readonly #patient: Connection;
  /** Reports that the service does not have yet, by the test's id. */
  readonly #pending = new Map<string, ReportedTest>();
  /** What the next report says beside its tests. */
  #marks: Omit<SuiteReport, 'tests'> = {};
  #batch: string | null = null;
  /** Why there is no run, or not all of it. */
  #fault: unknown = null;
  #isOver = false;
  /** When the next report is sent, after a failure. */
  #resumesAtMs = 0;
  #work: Promise<void> = Promise.resolve();
  readonly #beat: NodeJS.Timeout;

  constructor(connection: ConnectionOptions, request: SuiteRequest) {
    this.#request = request;
    this.#quick = new Connection({ ...connection, retries: 0 });
    this.#patient = new Connection(connection);
    this.#beat = setInterval(() => void this.#alive(), (SUITE_LEASE_S * 1000) / 4);
    this.#beat.unref();
  }

  /** The id of its batch; null if there is none. */
  async id(): Promise<string | null> {
    await this.flush();
    return this.#batch;
  }

  /** Takes what is known of some tests; {@link flush} sends it. */
  report(...tests: readonly ReportedTest[]): void {
    for (const test of tests) {
      const before = this.#pending.get(test.id);
      this.#pending.set(test.id, before === undefined ? test : mergeReports(before, test));
    }
  }

  /** All tests have been reported. */
  reportWhole(): void {
    this.#marks = { ...this.#marks, whole: true };
  }

  /** Sends what is pending. */
  flush(): Promise<void> {
    return this.#inOrder(() => this.#sendQuickly());
  }

  /**
   * Sends what is left. Idempotent.
   * @param end the suite has ended
   * @returns what is missing at the service, in a sentence; null if nothing is
   */
  async close({ end }: { readonly end: boolean }): Promise<string | null> {
    clearInterval(this.#beat);
    if (end) this.#marks = { ...this.#marks, end: true };
    await this.#inOrder(() => this.#send(this.#patient, LAST_MS));
    if (this.#fault === null) return null;
    const why = this.#fault instanceof Error ? this.#fault.message : String(this.#fault);
    const what = this.#batch === null ? 'this run not' : `${counted(this.#pending.size, 'result')} of this run not`;
    return `${PRODUCT_NAME}: ${what} sent to the dashboard: ${why}`;
  }

  #alive(): Promise<void> {
    return this.#inOrder(() => this.#sendQuickly(true));
  }

  /** @param isAlive as in {@link SuiteRun.#send} */
  async #sendQuickly(isAlive = false): Promise<void> {
    if (performance.now() < this.#resumesAtMs) return;
    await this.#send(this.#quick, QUICK_MS, isAlive);
    if (this.#fault !== null) this.#resumesAtMs = performance.now() + PAUSE_MS;
  }

  #inOrder(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(work);
    return this.#work;
  }

  /** @param isAlive also without anything to say, so that the run goes on */
  async #send(connection: Connection, timeoutMs: number, isAlive = false): Promise<void> {
    if (this.#isOver) return;
    try {
      this.#batch ??= await this.#begin(connection, timeoutMs);
      const path = `/api/batches/${this.#batch}/tests`;
      let isDue = isAlive || Object.keys(this.#marks).length > 0;
      while (this.#pending.size > 0 || isDue) {
        const tests = [...this.#pending.values()].slice(0, MAX_REPORTED_TESTS);
        const isLast = tests.length === this.#pending.size;
        const marks = isLast ? this.#marks : {};
        await connection.json('POST', path, { body: { tests, ...marks }, timeoutMs, retry: 'always' });
        // What was reported meanwhile is another object.
        for (const test of tests) if (this.#pending.get(test.id) === test) this.#pending.delete(test.id);
        if (!isLast) continue;
        isDue = this.#marks !== marks;
        if (!isDue) this.#marks = {};
      }
      this.#fault = null;
    } catch (error) {
      this.#fault = error;
      this.#isOver = error instanceof TroupeError && FINAL.includes(error.code);
    }
  }

  async #begin(connection: Connection, timeoutMs: number): Promise<string> {
    const call = { body: this.#request, timeoutMs, retry: 'always' } as const;
    return answerAs<SuiteBatch>(await connection.json('POST', '/api/batches/suite', call), 'id').id;
  }
}
