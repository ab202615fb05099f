import { randomInt } from 'node:crypto';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { assertNever } from '../../base/assert-never.js';
import {
  isExpected,
  mergeReports,
  type ReportedTest,
  StoredTest,
  SUITE_LEASE_S,
  suiteEndOf,
  testName,
  testStateOf,
} from '../../protocol/batches/suite.js';
import type { Dialect } from '../dialect.js';
import { DUE_AT_ONCE, type SuiteChange, type SuiteReported } from '../joined-changes.js';
import type { KeyValueKind } from '../messages.js';
import { storable } from '../rows.js';
import type { Schema } from '../schema.js';
import { JoinedStore } from './joined-store.js';
import { KeyValueStore } from './key-value-store.js';

const LEASE_MS = SUITE_LEASE_S * 1000;
/** Tests that are read at once: each may have several failures. */
const PAGE = 200;
/** Sorts after every character that an id may contain. */
const LAST = '\u{10ffff}';
/** Numbers of flow runs that nodes choose among. */
const RUN_NUMBERS = 2 ** 47;

/** A run of a suite, as `kept` has it by the id of its batch. */
const StoredRun = z.object({
  /** `ended`: its reporter said so; `lapsed`: nobody has said anything for its lease, and it may still go on. */
  state: z.enum(['running', 'ended', 'lapsed', 'stopped']),
  /** All tests were reported, also those that have not begun. */
  isWhole: z.boolean(),
  /** When it ends unless something is reported, in milliseconds since 1970. */
  expiresAtMs: z.number(),
  endedAt: z.string().nullable(),
  /** Tests in each state. */
  counts: z.record(z.string(), z.int()),
  /** Of the completed ones. */
  flaky: z.int(),
  /** The position of the next test that is reported first. */
  next: z.int(),
});
type StoredRun = z.infer<typeof StoredRun>;

/** A test of a run, as `kept` has it by the ids of its batch and its own. */
const StoredEntry = z.object({ position: z.int(), state: z.string(), flaky: z.boolean(), test: StoredTest });
type StoredEntry = z.infer<typeof StoredEntry>;

const NEW_RUN = { isWhole: false, expiresAtMs: 0, endedAt: null, counts: {}, flaky: 0, next: 0 } as const;

/**
 * Runs of Playwright suites: what their processes report about each test. Reports about a test complete each other, in
 * whatever order they come, and a report that comes twice changes nothing. All of it are key-value entries: `suite-run` and
 * its tests, `suite-test`, and `suite-open` for each run that goes on. Changes belong in the caller's transaction.
 */
export class SuiteStore {
  readonly #kysely: Kysely<Schema>;
  readonly #dialect: Pick<Dialect, 'isShared'>;

  constructor(kysely: Kysely<Schema>, dialect: Pick<Dialect, 'isShared'>) {
    this.#kysely = kysely;
    this.#dialect = dialect;
  }

  /** @returns 1; 0 for a report about a run that was stopped, or removed, which changes nothing */
  async change(asked: SuiteChange): Promise<number> {
    // If several nodes share the database, its clock says what time it is.
    const nowMs = await new JoinedStore(this.#kysely, this.#dialect).now(asked.nowMs);
    const at = new Date(nowMs).toISOString();
    switch (asked.change) {
      case 'suiteReport':
        return this.#report(asked, nowMs, at);
      case 'suiteStop':
        await this.#endRun(asked.batchId, () => ({ state: 'stopped', endedAt: at }));
        return 1;
      case 'suiteExpire': {
        const due = new Set(await this.#due(nowMs));
        for (const id of asked.batchIds) if (due.has(id)) await this.#endRun(id, lapsed);
        return 1;
      }
      default:
        return assertNever(asked);
    }
  }

  /** Runs whose lease is over, and that `suiteExpire` is to end: at most {@link DUE_AT_ONCE}. */
  async due(nowMs: number): Promise<readonly string[]> {
    return (await this.#due(nowMs)).slice(0, DUE_AT_ONCE);
  }

  /** The tests of a run as JSON texts of `StoredTest`, in the order in which they were first reported. */
  async tests(batchId: string): Promise<readonly string[]> {
    const rows = await new KeyValueStore(this.#kysely).list('suite-test', `${batchId}/`);
    const entries = rows.map(({ data }) => StoredEntry.parse(JSON.parse(data)));
    return entries.sort((a, b) => a.position - b.position).map(({ test }) => JSON.stringify(test));
  }

  /** Those of the batches that are runs of suites. */
  async runs(batchIds: readonly string[]): Promise<ReadonlyMap<string, StoredRun>> {
    const select = this.#kysely.selectFrom('kept').select(['id', 'data']).where('kind', '=', 'suite-run');
    const rows = await select.where('id', 'in', batchIds).execute();
    return new Map(rows.map(({ id, data }) => [id, StoredRun.parse(JSON.parse(data))]));
  }

  async remove(batchIds: readonly string[]): Promise<void> {
    const remove = this.#kysely.deleteFrom('kept');
    await remove.where('kind', 'in', ['suite-run', 'suite-open']).where('id', 'in', batchIds).execute();
    for (const id of batchIds) {
      const tests = remove.where('kind', '=', 'suite-test').where('id', '>=', `${id}/`);
      await tests.where('id', '<', `${id}/${LAST}`).execute();
    }
  }

  async #report({ batchId, tests, whole, end }: SuiteReported, nowMs: number, at: string): Promise<number> {
    const batch = this.#kysely.selectFrom('batches').select('id').where('id', '=', batchId);
    const known = (await this.runs([batchId])).get(batchId);
    if ((await batch.executeTakeFirst()) === undefined || known?.state === 'stopped') return 0;
    // What comes after the end completes it; what comes after a lapse shows that the suite was only silent.
    const isOver = end || known?.state === 'ended';
    const run: StoredRun = {
      ...(known ?? NEW_RUN),
      counts: { ...known?.counts },
      state: isOver ? 'ended' : 'running',
      isWhole: whole || (known?.isWhole ?? false),
      expiresAtMs: nowMs + LEASE_MS,
      endedAt: !isOver ? null : known?.state === 'ended' ? known.endedAt : at,
    };
    for (const test of tests) await this.#reportTest(batchId, run, test);
    if (known !== undefined && run.state !== known.state) await this.#countAgain(batchId, run);
    await this.#writeRun(batchId, run);
    return 1;
  }

  async #reportTest(batchId: string, run: StoredRun, reported: ReportedTest): Promise<void> {
    const id = storable(`${batchId}/${reported.id}`);
    const row = await this.#kysely
      .selectFrom('kept')
      .select('data')
      .where('kind', '=', 'suite-test')
      .where('id', '=', id)
      .executeTakeFirst();
    const before = row === undefined ? null : StoredEntry.parse(JSON.parse(row.data));
    const test = before === null ? reported : mergeReports(before.test, reported);
    const position = before?.position ?? run.next;
    if (before === null) run.next += 1;
    await this.#writeEntry(id, run, before, { position, ...testStateOf(test.attempts, suiteEndOf(run.state)), test });
    if (reported.attempts.length > 0) await this.#countFlowRuns(test, `${batchId}/${position}`);
  }

  /** Stores a test, and counts it in its state. */
  async #writeEntry(id: string, run: StoredRun, before: StoredEntry | null, entry: StoredEntry): Promise<void> {
    if (before !== null) run.counts[before.state] = (run.counts[before.state] ?? 1) - 1;
    run.counts[entry.state] = (run.counts[entry.state] ?? 0) + 1;
    run.flaky += Number(entry.flaky) - Number(before?.flaky ?? false);
    await this.#put('suite-test', id, entry);
  }

  async #writeRun(batchId: string, run: StoredRun): Promise<void> {
    await this.#put('suite-run', batchId, run);
    if (run.state === 'running') await this.#put('suite-open', batchId, run.expiresAtMs);
    else await this.#kysely.deleteFrom('kept').where('kind', '=', 'suite-open').where('id', '=', batchId).execute();
  }

  async #put(kind: KeyValueKind, id: string, value: unknown): Promise<void> {
    const data = storable(JSON.stringify(value));
    await this.#kysely
      .insertInto('kept')
      .values({ kind, id, data })
      .onConflict((conflict) => conflict.columns(['kind', 'id']).doUpdateSet({ data }))
      .execute();
  }

  /** The history of flows has each attempt that gave a result, once, as it was last reported. */
  async #countFlowRuns(test: ReportedTest, session: string): Promise<void> {
    // An error outside of the tests has a place in the run, but no history.
    if (test.line === 0) return;
    const flow = storable(testName(test));
    await this.#kysely.deleteFrom('flow_runs').where('flow', '=', flow).where('session_id', '=', session).execute();
    for (const attempt of test.attempts) {
      const { status, startedAt, durationMs } = attempt;
      if (status === 'running' || status === 'skipped' || status === 'interrupted') continue;
      await this.#kysely
        .insertInto('flow_runs')
        .values({
          seq: await this.#runNumber(),
          flow,
          session_id: session,
          at: new Date(Date.parse(startedAt) + durationMs).toISOString(),
          status: isExpected(attempt) ? 'passed' : 'failed',
          duration_ms: durationMs,
          code: isExpected(attempt) || attempt.failure === null ? null : storable(attempt.failure.code),
        })
        .execute();
    }
  }

  /** A number for a row of the history of flows: below 0, as those of joined batches. */
  async #runNumber(): Promise<number> {
    if (this.#dialect.isShared) return -1 - randomInt(RUN_NUMBERS);
    const { first } = await this.#kysely
      .selectFrom('flow_runs')
      .select(({ fn }) => fn.min('seq').as('first'))
      .executeTakeFirstOrThrow();
    return Math.min(0, Number(first ?? 0)) - 1;
  }

  async #endRun(batchId: string, end: (run: StoredRun) => Pick<StoredRun, 'state' | 'endedAt'>): Promise<void> {
    const known = (await this.runs([batchId])).get(batchId);
    if (known?.state !== 'running') return;
    const run = { ...known, ...end(known) };
    await this.#countAgain(batchId, run);
    await this.#writeRun(batchId, run);
  }

  /** The states of a run's tests, since it has ended, or goes on after all. */
  async #countAgain(batchId: string, run: StoredRun): Promise<void> {
    for (let after = `${batchId}/`; ; ) {
      const rows = await this.#kysely
        .selectFrom('kept')
        .select(['id', 'data'])
        .where('kind', '=', 'suite-test')
        .where('id', '>', after)
        .where('id', '<', `${batchId}/${LAST}`)
        .orderBy('id')
        .limit(PAGE)
        .execute();
      for (const { id, data } of rows) {
        const entry = StoredEntry.parse(JSON.parse(data));
        const now = { ...entry, ...testStateOf(entry.test.attempts, suiteEndOf(run.state)) };
        if (now.state !== entry.state || now.flaky !== entry.flaky) await this.#writeEntry(id, run, entry, now);
      }
      after = rows.at(-1)?.id ?? after;
      if (rows.length < PAGE) return;
    }
  }

  async #due(nowMs: number): Promise<readonly string[]> {
    const open = await new KeyValueStore(this.#kysely).list('suite-open', '');
    return open.filter(({ data }) => Number(data) <= nowMs).map(({ id }) => id);
  }
}

/** It ended with its last report. */
function lapsed({ expiresAtMs }: StoredRun): Pick<StoredRun, 'state' | 'endedAt'> {
  return { state: 'lapsed', endedAt: new Date(expiresAtMs - LEASE_MS).toISOString() };
}
