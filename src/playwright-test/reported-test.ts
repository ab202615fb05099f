import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import type { TestInfo, TestStatus } from '@playwright/test';
import type { TestCase, TestError, TestResult } from '@playwright/test/reporter';
import { sourceFrame } from '../base/source-frame.js';
import { isExpected, type ReportedTest, type TestAttempt } from '../protocol/batches/suite.js';
import type { Failure } from '../protocol/report/failure.js';

/** The type of the annotation with the address of a test's session. */
export const SESSION_ANNOTATION = 'troupe session';

const MAX_MESSAGE = 4_000;
const MAX_FRAME = 2_000;
const MAX_VALUE = 2_000;

type About = Omit<ReportedTest, 'attempts'>;
type Annotations = TestInfo['annotations'];

/** An error, as fixtures and reporters see it. */
type SuiteError = Pick<TestError, 'message' | 'stack' | 'value' | 'location'>;

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A test as its fixture sees it. */
export function testOfInfo(info: TestInfo): About {
  const [suite = '', ...titles] = info.titlePath;
  const { testId: id, project, repeatEachIndex: repeat, tags, annotations, file, line, column } = info;
  return about({ id, suite, titles, project: project.name, repeat, tags, annotations, place: { file, line, column } });
}

/** A test as a reporter sees it. */
export function testOfCase(test: TestCase, annotations: Annotations): About {
  const [, project = '', suite = '', ...titles] = test.titlePath();
  const { id, repeatEachIndex: repeat, tags, location: place } = test;
  return about({ id, suite, titles, project, repeat, tags, annotations, place });
}

/** An attempt as its fixture sees it, at its end. @param sessionId null if the test has no session */
export function attemptOfInfo(info: TestInfo, startedAtMs: number, sessionId: string | null): TestAttempt {
  const { status = 'passed', expectedStatus, retry, errors } = info;
  const durationMs = Math.max(0, Date.now() - startedAtMs);
  return attemptOf({ retry, status, expectedStatus, startedAtMs, durationMs, sessionId, errors }, info);
}

/** An attempt as a reporter sees it. */
export function attemptOfResult(test: TestCase, result: TestResult): TestAttempt {
  const { retry, status, startTime, errors } = result;
  const durationMs = Math.max(0, result.duration);
  const { expectedStatus, location } = test;
  const startedAtMs = startTime.getTime();
  const sessionId = sessionIn(result.annotations);
  const end = { retry, status, expectedStatus, startedAtMs, durationMs, sessionId, errors };
  return { ...attemptOf(end, location), settled: true };
}

/** The session that the fixture noted; null if there is none. */
function sessionIn(annotations: Annotations): string | null {
  const noted = annotations.findLast(({ type }) => type === SESSION_ANNOTATION)?.description ?? '';
  return /([a-z0-9]{12})$/.exec(noted)?.[1] ?? null;
}

/** An attempt that has begun. */
export function runningAttempt({ retry, expectedStatus }: TestInfo, startedAtMs: number): TestAttempt {
  const startedAt = new Date(startedAtMs).toISOString();
  return {
    attempt: Math.min(retry + 1, 1_000),
    status: 'running',
    expectedStatus,
    startedAt,
    durationMs: 0,
    sessionId: null,
    failure: null,
  };
}

/** An error outside of the tests, as an entry of its own. @param number from 1, of the suite's errors */
export function errorOutside(error: SuiteError, number: number, at: Date): ReportedTest {
  const failure = failureOf([error], 'failed', null);
  const [title = ''] = failure.message.split('\n');
  return {
    id: `error-${number}`,
    suite: 'outside of the tests',
    titlePath: [title.slice(0, 200)],
    project: null,
    repeat: 0,
    file: failure.file ?? '',
    line: 0,
    column: 0,
    tags: [],
    reason: null,
    attempts: [
      {
        attempt: 1,
        status: 'failed',
        expectedStatus: 'passed',
        startedAt: at.toISOString(),
        durationMs: 0,
        sessionId: null,
        failure,
      },
    ],
  };
}

function about(test: {
  readonly id: string;
  readonly suite: string;
  readonly titles: readonly string[];
  readonly project: string;
  readonly repeat: number;
  readonly tags: readonly string[];
  readonly annotations: Annotations;
  readonly place: Place;
}): About {
  const { id, suite, titles, project, repeat, tags, annotations, place } = test;
  const shown = titles.filter((title) => title !== '').map((title) => title.slice(0, 2_000));
  const reasons = annotations.filter(({ type }) => type === 'skip' || type === 'fixme' || type === 'fail');
  return {
    id,
    suite: suite.split(sep).join('/').slice(0, 1_000),
    titlePath: shown.length === 0 ? [''] : shown.slice(-100),
    project: project === '' ? null : project.slice(0, 200),
    repeat,
    file: fromHere(place.file),
    line: place.line,
    column: place.column,
    tags: tags.slice(0, 100).map((tag) => tag.slice(0, 200)),
    reason: reasons.findLast(({ description }) => description !== undefined)?.description?.slice(0, 1_000) ?? null,
  };
}

function attemptOf(
  end: {
    readonly retry: number;
    readonly status: TestStatus;
    readonly expectedStatus: TestStatus;
    readonly startedAtMs: number;
    readonly durationMs: number;
    readonly sessionId: string | null;
    readonly errors: readonly SuiteError[];
  },
  place: Place,
): TestAttempt {
  const { retry, status, expectedStatus, startedAtMs, durationMs, sessionId, errors } = end;
  const startedAt = new Date(startedAtMs).toISOString();
  const attempt = {
    attempt: Math.min(retry + 1, 1_000),
    status,
    expectedStatus,
    startedAt,
    durationMs,
    sessionId,
    failure: null,
  };
  // What was skipped against expectation has no failure of its own, unless a hook says so.
  if (isExpected(attempt) || (status === 'skipped' && errors.length === 0)) return attempt;
  return { ...attempt, failure: failureOf(errors, status, place) };
}

/** The failure of a test. @param test where the test is; null for an error outside of tests */
function failureOf(errors: readonly SuiteError[], status: TestStatus, test: Place | null): Failure {
  const messages = errors.map(messageOf);
  const message = (messages.join('\n\n') || withoutErrors(status)).slice(0, MAX_MESSAGE);
  const place = errors.map((error) => placeOf(error, test)).find((one) => one !== null) ?? test;
  const frame = place === null ? '' : frameOf(place);
  return {
    code: codeOf(status, messages[0] ?? ''),
    message,
    ...(place === null ? {} : { file: fromHere(place.file), line: place.line, column: place.column }),
    ...(frame === '' ? {} : { frame: frame.slice(0, MAX_FRAME) }),
    ...comparedIn(message),
  };
}

function withoutErrors(status: TestStatus): string {
  if (status === 'passed') return 'The test passed, though it is expected to fail';
  if (status === 'interrupted') return 'The suite was interrupted while the test ran';
  return status === 'timedOut' ? 'The test took too long' : 'The test failed without an error';
}

function codeOf(status: TestStatus, message: string): Failure['code'] {
  if (status === 'timedOut') return 'WAIT_TIMEOUT';
  if (status === 'interrupted') return 'INTERRUPTED';
  if (status === 'passed' || /^(\w*Error: )?expect[(.]/.test(message)) return 'MATCH_FAILED';
  return /^(\w*Error: )?The session \w+ has ended before its test/.test(message) ? 'SESSION_ENDED' : 'SCRIPT_ERROR';
}

function messageOf({ message, value }: SuiteError): string {
  return stripVTControlCharacters(message ?? value ?? 'Unknown error').replace(/^Error: /, '');
}

/** What an assertion says that it compared. */
function comparedIn(message: string): Pick<Failure, 'locator' | 'expected' | 'received'> {
  const labelled = (label: RegExp) => {
    const text = label.exec(message)?.[1];
    return text === undefined ? undefined : unquoted(text).slice(0, MAX_VALUE);
  };
  const locator = labelled(/(?:^|\n)Locator: +([^\n]+)/);
  const expected = labelled(/(?:^|\n)Expected(?: string| pattern| value| substring)?: +([^\n]+)/);
  const received = labelled(/(?:^|\n)Received(?: string| value)?: +([^\n]+)/);
  return {
    ...(locator === undefined ? {} : { locator }),
    ...(expected === undefined || received === undefined ? {} : { expected, received }),
  };
}

function unquoted(text: string): string {
  return /^".*"$/s.test(text) ? text.slice(1, -1) : text;
}

/** Where an error was thrown: in the test file if it passed through it, else in code of the project. */
function placeOf({ stack = '', location }: SuiteError, test: Place | null): Place | null {
  const frames = stack.split('\n').flatMap((line) => frameIn(line) ?? []);
  const own = frames.filter(({ file }) => !/[\\/]node_modules[\\/]/.test(file));
  const inTest = own.find(({ file }) => file === test?.file);
  return inTest ?? own[0] ?? location ?? null;
}

function frameIn(line: string): Place | null {
  const [, path = '', row, column] =
    /^\s+at (?:.*\()?((?:file:|\/|[A-Za-z]:[\\/]).*?):(\d+):(\d+)\)?$/s.exec(line) ?? [];
  if (path === '') return null;
  return { file: path.startsWith('file:') ? fileURLToPath(path) : path, line: Number(row), column: Number(column) };
}

function frameOf({ file, line, column }: Place): string {
  try {
    return sourceFrame(readFileSync(file, 'utf8'), line, column);
  } catch {
    // It is not there any more, or was made up by a loader.
    return '';
  }
}

/** A path as people see it: from the folder of the command, if it is below that. */
function fromHere(file: string): string {
  const path = relative(process.cwd(), file);
  return (path.startsWith('..') ? file : path).split(sep).join('/').slice(0, 2_000);
}
