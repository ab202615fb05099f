import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import { DUE_AT_ONCE } from '../../journal/joined-changes.js';
import type { Journal } from '../../journal/journal.js';
import { BatchId, type BatchJUnitQuery, type BatchRecord } from '../../protocol/batches/batch.js';
import {
  type ReportedTest,
  StoredTest,
  type SuiteBatch,
  type SuiteEnd,
  type SuiteReport,
  type SuiteRequest,
  type SuiteTest,
  type SuiteTests,
  suiteEndOf,
  testName,
  testStateOf,
} from '../../protocol/batches/suite.js';
import { TroupeError } from '../../protocol/errors.js';
import { renderCtrf } from '../../report/suite/ctrf.js';
import { renderSuiteJUnit } from '../../report/suite/suite-junit.js';
import type { SuiteResult } from '../../report/suite/suite-result.js';
import { suiteTestResult } from '../../report/suite/suite-test.js';
import type { Suites } from '../ports/suites.js';
import { newSessionId } from '../sessions/index.js';
import { assertOwner, ownerOf } from './batch-owner.js';
import { batchRow, type StoredBatch } from './stored-batch.js';

/** No client can send this as a key of its own: headers have no line ends. */
const RUN_KEY = 'suite\n';

export interface SuiteRunsParts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly version: string;
  /** @throws NOT_FOUND */
  find(id: string): Promise<StoredBatch>;
  record(batch: StoredBatch): Promise<BatchRecord>;
}

/** A batch that is a run of a suite. */
type SuiteStored = StoredBatch & { readonly suite: NonNullable<StoredBatch['suite']> };

/** See {@link Suites}. Everything is in the journal, so that any node takes any report. */
export class SuiteRuns implements Suites {
  readonly #parts: SuiteRunsParts;

  constructor(parts: SuiteRunsParts) {
    this.#parts = parts;
  }

  async begin(request: SuiteRequest, caller: string): Promise<SuiteBatch> {
    const { run, name = null, labels = {} } = request;
    const known = await this.#ofRun(run, caller);
    if (known !== null) return { ...(await this.#parts.record(known)), created: false };
    const { journal } = this.#parts;
    const id = BatchId.parse(newSessionId());
    const batch: StoredBatch = {
      id,
      createdAt: new Date(await journal.joinedNow(this.#now().nowMs)).toISOString(),
      name,
      labels,
      parallel: null,
      total: 0,
      after: journal.lastSeq(),
      cancelled: false,
      suite: { run, owner: ownerOf(caller) },
    };
    try {
      await journal.write({
        submissions: [{ key: `${RUN_KEY}${run}`, sessionId: id, fingerprint: '' }],
        keyValues: [batchRow(batch)],
      });
    } catch (error) {
      // Of two processes that come at the same moment, the journal refuses one.
      const other = await this.#ofRun(run, caller);
      if (other === null) throw error;
      return { ...(await this.#parts.record(other)), created: false };
    }
    await this.#store(id, { tests: [] });
    return { ...(await this.#parts.record(batch)), created: true };
  }

  async report(id: string, report: SuiteReport, caller: string): Promise<void> {
    const batch = await this.#find(id);
    assertOwner({ id: batch.id, ...batch.suite, what: 'The suite' }, caller);
    await this.#store(batch.id, report);
  }

  async tests(id: string): Promise<SuiteTests> {
    const batch = await this.#find(id);
    await this.expire();
    const { createdAt, endedAt, suite } = await this.#parts.record(batch);
    const texts = await this.#parts.journal.suiteTests(batch.id);
    const { suite: run } = await this.#parts.journal.batchCounts(batch.id);
    const end = suiteEndOf(run?.state ?? 'lapsed');
    const tests = texts.map((text) => testOf(StoredTest.parse(JSON.parse(text)), end));
    return { createdAt, endedAt, whole: suite?.whole ?? false, tests };
  }

  async ctrf(id: string, base: string): Promise<string> {
    return renderCtrf(await this.#result(await this.#find(id), 'urls', base), randomUUID());
  }

  /** @param base the service's address as its client sees it */
  async junit(batch: StoredBatch, { links = 'urls' }: BatchJUnitQuery, base: string): Promise<string> {
    return renderSuiteJUnit(await this.#result(batch, links, base));
  }

  /** Ends runs that have been silent for too long, so that what is read next is up to date. */
  async expire(): Promise<void> {
    const { journal } = this.#parts;
    for (let isAll = false; !isAll; ) {
      const now = this.#now();
      const batchIds = await journal.suitesDue(now.nowMs);
      if (batchIds.length > 0) await journal.changeSuite({ change: 'suiteExpire', batchIds, ...now });
      isAll = batchIds.length < DUE_AT_ONCE;
    }
  }

  /** The run takes no more reports. The suite itself goes on: it runs elsewhere. */
  async stop(batchId: BatchId): Promise<void> {
    await this.#parts.journal.changeSuite({ change: 'suiteStop', batchId, ...this.#now() });
  }

  async #store(batchId: BatchId, { tests, whole = false, end = false }: SuiteReport): Promise<void> {
    const change = { change: 'suiteReport', batchId, tests, whole, end, ...this.#now() } as const;
    if ((await this.#parts.journal.changeSuite(change)) > 0) return;
    throw new TroupeError('CLAIM_LOST', 'The run was stopped or removed: what the suite still reports is not stored');
  }

  async #result(batch: StoredBatch, links: BatchJUnitQuery['links'], base: string): Promise<SuiteResult> {
    const { createdAt, endedAt, tests } = await this.tests(batch.id);
    return {
      name: batch.name ?? 'playwright',
      version: this.#parts.version,
      startedAt: createdAt,
      endedAt: endedAt ?? createdAt,
      labels: batch.labels,
      build: null,
      flows: tests.map((test) => suiteTestResult(test, links === 'urls' ? base : null)),
    };
  }

  async #ofRun(run: string, caller: string): Promise<StoredBatch | null> {
    const known = await this.#parts.journal.submission(`${RUN_KEY}${run}`);
    if (known === null) return null;
    const batch = await this.#find(known.sessionId);
    assertOwner({ id: batch.id, ...batch.suite, what: 'The suite' }, caller);
    return batch;
  }

  /** @throws NOT_FOUND, also for a batch that is no run of a suite */
  async #find(id: string): Promise<SuiteStored> {
    const batch = await this.#parts.find(id);
    const { suite } = batch;
    if (suite !== undefined) return { ...batch, suite };
    throw new TroupeError('NOT_FOUND', `Batch ${id} has jobs, and no tests of a Playwright suite`);
  }

  #now(): { readonly nowMs: number; readonly at: string } {
    const now = this.#parts.clock.now();
    return { nowMs: now.getTime(), at: now.toISOString() };
  }
}

function testOf(test: ReportedTest, end: SuiteEnd): SuiteTest {
  return {
    ...test,
    name: testName(test),
    ...testStateOf(test.attempts, end),
    attempts: test.attempts.map((one) =>
      end !== 'open' && one.status === 'running' ? { ...one, failure: CUT_OFF } : one,
    ),
  };
}

/** What became of a test whose process said nothing more. */
const CUT_OFF = { code: 'INTERRUPTED', message: 'The suite ended before it said how the test ended' } as const;
