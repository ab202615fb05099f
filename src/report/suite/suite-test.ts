import { isExpected, type SuiteTest, type TestAttempt, type TestState } from '../../protocol/batches/suite.js';
import { testMs } from '../../protocol/times.js';
import type { EarlierAttempt, FlowOutcome, FlowResult } from './suite-result.js';

const OUTCOMES: Readonly<Record<TestState, FlowOutcome>> = {
  queued: 'stopped',
  running: 'stopped',
  completed: 'passed',
  failed: 'failed',
  stopped: 'stopped',
  skipped: 'skipped',
  'not run': 'stopped',
};

/** Why a test has no result, if nothing else is known. */
const NOT_RUN: { readonly [state in TestState]?: string } = {
  queued: 'it has not begun',
  running: 'it has not ended',
  stopped: 'it was interrupted',
  'not run': 'the suite ended before it',
};

/** A test of a Playwright suite as reports have it. @param base the service's address for links to sessions; null for none */
export function suiteTestResult(test: SuiteTest, base: string | null): FlowResult {
  const { attempts, titlePath, project, repeat } = test;
  const [first] = attempts;
  const last = attempts.at(-1);
  const isFailed = test.state === 'failed' || test.state === 'stopped';
  const failed = isFailed ? attempts.findLast((one) => one.failure !== null) : undefined;
  const earlier = attempts.filter((one) => isFailure(one) && one !== failed);
  const title = titlePath.join(' › ');
  const repeated = repeat === 0 ? title : `${title} (${repeat + 1})`;
  return {
    name: test.name,
    file: test.file,
    tags: test.tags,
    outcome: OUTCOMES[test.state],
    failure: failed?.failure ?? null,
    notRun: OUTCOMES[test.state] === 'stopped' ? (test.reason ?? NOT_RUN[test.state] ?? null) : null,
    attempts: Math.max(1, attempts.filter(({ status }) => status !== 'skipped').length),
    // What follows a failure without having run is no failure of the test.
    earlier: test.state === 'completed' && !test.flaky ? [] : earlier.map(earlierOf),
    quarantine: null,
    startedAt: first?.startedAt ?? null,
    durationMs: testMs(test),
    queuedMs: 0,
    pausedMs: pausesOf(attempts),
    sessionId: last?.sessionId ?? null,
    report: base === null || !last?.sessionId ? null : `${base}/api/sessions/${last.sessionId}/report`,
    picture: null,
    history: null,
    again: null,
    test: {
      suite: test.suite,
      title: project === null || project === '' ? repeated : `${repeated} [${project}]`,
      line: test.line,
      reason: test.reason,
    },
  };
}

/** The time between the attempts. */
function pausesOf(attempts: readonly TestAttempt[]): number {
  return attempts.reduce((total, { startedAt, durationMs }, index) => {
    const next = attempts[index + 1];
    return (
      total + (next === undefined ? 0 : Math.max(0, Date.parse(next.startedAt) - Date.parse(startedAt) - durationMs))
    );
  }, 0);
}

function isFailure(attempt: TestAttempt): boolean {
  return !isExpected(attempt) && attempt.status !== 'skipped' && attempt.status !== 'interrupted';
}

function earlierOf({ attempt, failure, durationMs }: TestAttempt): EarlierAttempt {
  return {
    attempt,
    durationMs,
    failure: failure ?? { code: 'SCRIPT_ERROR', message: 'The test did not end as expected' },
  };
}
