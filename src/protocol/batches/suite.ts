import { z } from 'zod';
import { Failure } from '../report/failure.js';
import { BatchRecord } from './batch.js';

/** Seconds after which a suite that says nothing more has ended. */
export const SUITE_LEASE_S = 60;

/** The most tests of one report. */
export const MAX_REPORTED_TESTS = 200;

/** `POST /api/batches/suite`: all processes of a suite send the same `run`; the first one makes the batch. */
export const SuiteRequest = z.strictObject({
  /** A random text that names this run of the suite. */
  run: z.string().min(10).max(200),
  name: z.string().min(1).max(200).optional(),
  labels: z.record(z.string().min(1).max(100), z.string().max(500)).optional(),
});
export type SuiteRequest = z.infer<typeof SuiteRequest>;

/** The response of `POST /api/batches/suite`. */
export const SuiteBatch = BatchRecord.extend({
  /** Whether this call made it. */
  created: z.boolean(),
});
export type SuiteBatch = z.infer<typeof SuiteBatch>;

/** How a test ended, as Playwright says it. */
const TestStatus = z.enum(['passed', 'failed', 'timedOut', 'skipped', 'interrupted']);

const TestAttempt = z.strictObject({
  /** From 1. */
  attempt: z.int().min(1).max(1_000),
  status: z.enum([...TestStatus.options, 'running']),
  /** What Playwright counts as success: `failed` for `test.fail()`, `skipped` for `test.skip()`. */
  expectedStatus: TestStatus,
  startedAt: z.iso.datetime(),
  durationMs: z.number().nonnegative(),
  /** The session in whose browser it ran; null if it had none. */
  sessionId: z.string().max(100).nullable(),
  /** Why it did not end as expected. */
  failure: Failure.nullable(),
  /** Playwright itself says so, after all hooks: what the test's own process says does not change it. */
  settled: z.boolean().optional(),
});
export type TestAttempt = z.infer<typeof TestAttempt>;

/** A test of a suite, as its fixture or its reporter describes it. */
export const ReportedTest = z.strictObject({
  /** Playwright's id, which is the same in each run. */
  id: z.string().min(1).max(200),
  /** The test file, as Playwright prints it. */
  suite: z.string().min(1).max(1_000),
  /** The titles of the surrounding `describe` blocks and of the test. */
  titlePath: z.array(z.string().max(2_000)).min(1).max(100),
  project: z.string().max(200).nullable(),
  /** From 0; above it with `repeatEach`. */
  repeat: z.int().min(0).max(100_000),
  /** From the folder of the command, with forward slashes. */
  file: z.string().max(2_000),
  /** 0: it is an error outside of the tests. */
  line: z.int().min(0),
  column: z.int().min(0),
  tags: z.array(z.string().max(200)).max(100),
  /** Such as the reason of `test.skip`. */
  reason: z.string().max(1_000).nullable(),
  /** Those that have begun, in order. They complete what was reported before. */
  attempts: z.array(TestAttempt).max(1_000),
});
export type ReportedTest = z.infer<typeof ReportedTest>;

/** A test as it is stored: a node of the next version may have written more about it. */
export const StoredTest = z.object({ ...ReportedTest.shape, attempts: z.array(z.object(TestAttempt.shape)) });

/** `POST /api/batches/{id}/tests`. An empty report says that the suite is still running. */
export const SuiteReport = z.strictObject({
  tests: z.array(ReportedTest).max(MAX_REPORTED_TESTS),
  /** All tests of the suite have been reported: those without an attempt by the end were not run. */
  whole: z.boolean().optional(),
  /** The suite has ended. */
  end: z.boolean().optional(),
});
export type SuiteReport = z.infer<typeof SuiteReport>;

export const SuiteReportAnswer = z.object({ stored: z.literal(true) });

/** `completed`: as expected, in whatever attempt. */
const TestState = z.enum(['queued', 'running', 'completed', 'failed', 'stopped', 'skipped', 'not run']);
export type TestState = z.infer<typeof TestState>;

/** A test of a suite, in `GET /api/batches/{id}/tests`. */
export const SuiteTest = z.object({
  ...StoredTest.shape,
  /** Its file and its titles, with its project. Statistics count it under this name. */
  name: z.string(),
  state: TestState,
  /** It ended as expected in a retry only. */
  flaky: z.boolean(),
});
export type SuiteTest = z.infer<typeof SuiteTest>;

/** The response of `GET /api/batches/{id}/tests`. */
export const SuiteTests = z.object({
  createdAt: z.iso.datetime(),
  /** Null while the suite runs. */
  endedAt: z.iso.datetime().nullable(),
  /** Whether all tests of the suite are known: without the reporter, only those that began are. */
  whole: z.boolean(),
  /** In the order in which they were reported first. */
  tests: z.array(SuiteTest),
});
export type SuiteTests = z.infer<typeof SuiteTests>;

const MAX_NAME = 500;

/** Under which name runs and statistics have a test. */
export function testName({ suite, titlePath, project, repeat }: Omit<ReportedTest, 'attempts'>): string {
  const name = [suite, ...titlePath].join(' › ');
  const more = `${repeat === 0 ? '' : ` (${repeat + 1})`}${project === null || project === '' ? '' : ` [${project}]`}`;
  return `${name.slice(0, MAX_NAME - more.length)}${more}`;
}

/** Whether a suite still runs, has ended, or has said nothing for too long. */
export type SuiteEnd = 'open' | 'ended' | 'silent';

/** The end of a suite, by the state of its run. */
export function suiteEndOf(state: 'running' | 'ended' | 'lapsed' | 'stopped'): SuiteEnd {
  return state === 'running' ? 'open' : state === 'lapsed' ? 'silent' : 'ended';
}

/** Whether an attempt ended as the test says it should. */
export function isExpected({ status, expectedStatus }: TestAttempt): boolean {
  return status === expectedStatus;
}

/**
 * The state of a test, counted as Playwright counts it. An attempt that was skipped though the test does not say so was not
 * run: an earlier test of its serial group, or a hook, failed.
 * @param end what is running at the end of the suite was interrupted; if it only fell silent, its process has died
 */
export function testStateOf(attempts: readonly TestAttempt[], end: SuiteEnd): Pick<SuiteTest, 'state' | 'flaky'> {
  const running = attempts.some(({ status }) => status === 'running');
  if (running && end === 'open') return { state: 'running', flaky: false };
  if (attempts.length === 0) return { state: end === 'open' ? 'queued' : 'not run', flaky: false };
  const expectation = attempts.findLast(({ status }) => status !== 'running')?.expectedStatus ?? 'passed';
  let [skipped, expected, unexpected, interrupted] = [0, 0, 0, 0];
  for (const { status } of attempts) {
    if (status === 'interrupted' || (status === 'running' && end === 'ended')) interrupted += 1;
    else if (status === 'skipped') skipped += expectation === 'skipped' ? 1 : 0;
    else if (status === expectation) expected += 1;
    else unexpected += 1;
  }
  if (expected === 0 && unexpected === 0) {
    return { state: skipped > 0 ? 'skipped' : interrupted > 0 ? 'stopped' : 'not run', flaky: false };
  }
  if (unexpected === 0) return { state: 'completed', flaky: false };
  if (expected === 0 && skipped === 0) return { state: 'failed', flaky: false };
  return { state: 'completed', flaky: true };
}

/**
 * What two reports say about a test. The later one wins, but what was only running never hides how it ended, nor what a
 * fixture says what Playwright itself says.
 */
export function mergeReports(before: ReportedTest, later: ReportedTest): ReportedTest {
  const attempts = new Map<number, TestAttempt>(before.attempts.map((one) => [one.attempt, one]));
  for (const one of later.attempts) {
    const known = attempts.get(one.attempt);
    const best = known !== undefined && weightOf(known) > weightOf(one) ? known : one;
    attempts.set(one.attempt, { ...best, sessionId: best.sessionId ?? one.sessionId ?? known?.sessionId ?? null });
  }
  return {
    ...later,
    reason: later.reason ?? before.reason,
    attempts: [...attempts.values()].sort((a, b) => a.attempt - b.attempt),
  };
}

function weightOf({ status, settled = false }: TestAttempt): number {
  return status === 'running' ? 0 : settled ? 2 : 1;
}
