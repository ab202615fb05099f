import { isExpected, SuiteTests, type TestState } from '../protocol/batches/suite.js';
import { encodeError } from '../protocol/errors.js';
import { alikeLine, failureKey, groupAlike } from '../protocol/report/alike-failures.js';
import type { Failure } from '../protocol/report/failure.js';
import { SessionRecord } from '../protocol/session.js';
import { testText } from '../protocol/state-text.js';
import { failureText } from '../report/suite/failure-text.js';
import type { ServiceClient } from './service-client.js';

/** What did not pass in the run of a Playwright suite. */
export interface SuiteFailures {
  readonly runId: string;
  /** Of the chosen tests. */
  readonly counts: { readonly [state in TestState]?: number };
  readonly tests: readonly {
    readonly name: string;
    readonly state: TestState;
    readonly flaky: boolean;
    /** How it ended, in one sentence. */
    readonly text: string;
    readonly failures: readonly {
      readonly attempt: number;
      readonly sessionId: string | null;
      readonly failure: Failure;
    }[];
  }[];
}

/** The failures of a run. @throws NOT_FOUND */
export async function suiteFailures(client: ServiceClient, runId: string): Promise<SuiteFailures> {
  const { tests } = SuiteTests.parse(await client.json('GET', `/api/batches/${runId}/tests`));
  return failuresOf(runId, tests);
}

/** The failures of the test that ran in a session; null if it is no session of a test, or its run was removed. */
export async function suiteOfSession(client: ServiceClient, sessionId: string): Promise<SuiteFailures | null> {
  const { labels } = SessionRecord.parse(await client.json('GET', `/api/sessions/${sessionId}`));
  const { run, retry } = labels;
  if (run === undefined || retry === undefined) return null;
  try {
    const { tests } = SuiteTests.parse(await client.json('GET', `/api/batches/${run}/tests`));
    const own = tests.flatMap((test) => {
      const attempts = test.attempts.filter((attempt) => attempt.sessionId === sessionId);
      return attempts.length === 0 ? [] : [{ ...test, attempts }];
    });
    return own.length === 0 ? null : failuresOf(run, own);
  } catch (error) {
    if (['NOT_FOUND', 'INVALID_REQUEST'].includes(encodeError(error).code)) return null;
    throw error;
  }
}

function failuresOf(runId: string, tests: SuiteTests['tests']): SuiteFailures {
  const counts: { [state in TestState]?: number } = {};
  for (const { state } of tests) counts[state] = (counts[state] ?? 0) + 1;
  const shown = tests.filter(
    ({ state, attempts }) => state === 'not run' || state === 'stopped' || attempts.some((one) => one.failure !== null),
  );
  return {
    runId,
    counts,
    tests: shown.map((test) => ({
      name: test.name,
      state: test.state,
      flaky: test.flaky,
      text: testText(test),
      failures: test.attempts.flatMap((one) =>
        one.failure === null || isExpected(one)
          ? []
          : [{ attempt: one.attempt, sessionId: one.sessionId, failure: one.failure }],
      ),
    })),
  };
}

/** The failures as text for a terminal or a model. */
export function describeSuite({ runId, counts, tests }: SuiteFailures): string {
  const counted = Object.entries(counts).map(([state, n]) => `${n} ${state === 'completed' ? 'passed' : state}`);
  const head = `Run ${runId}: ${counted.join(', ') || 'no test'}`;
  const groups = groupAlike(tests, ({ state, failures }) =>
    failures.length === 0 ? null : [state, ...failures.map(({ failure }) => failureKey(failure))].join('\n'),
  );
  const blocks = groups.map(([{ name, text, failures }, ...others]) => {
    const ends = failures.map(({ attempt, sessionId, failure }) =>
      [
        ...(failures.length > 1 ? [`Attempt ${attempt}`] : []),
        failureText(failure),
        ...(sessionId === null ? [] : [`Session: ${sessionId}`]),
      ].join('\n'),
    );
    const alike = alikeLine(
      others.map((other) => other.name),
      'test',
    );
    return [`${name}: ${text}`, ...ends, ...(alike === null ? [] : [alike])].join('\n');
  });
  return `${[head, ...(tests.length === 0 ? ['Nothing failed'] : blocks)].join('\n\n')}\n`;
}
