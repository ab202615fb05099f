import type { ErrorBody } from '#troupe/protocol/errors.js';
import type { RequestDraft } from '../request.js';
import type { HttpResponse } from '../run/response.js';

/** One `pm.test`, or one `match` outside of it. */
export interface TestResult {
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Why it failed; otherwise empty. */
  readonly message: string;
}

/** The result of one request of a run. */
export interface RequestResult {
  /** The folders from the outside in, then the request. */
  readonly path: readonly string[];
  /** As sent, but without tokens. */
  readonly request: RequestDraft;
  /**
   * Null if there was no answer; `error` has the reason. Its body is disposed of after the run's listener has returned.
   */
  readonly response: HttpResponse | null;
  readonly error: ErrorBody | null;
  /** A Before script asked for it; there is no response then. */
  readonly skipped: boolean;
  readonly tests: readonly TestResult[];
  /** Variables without a value, which were sent as written. */
  readonly unresolved: readonly string[];
  /** Console lines of the scripts. */
  readonly console: readonly string[];
  readonly durationMs: number;
}

/** A request passed if it was answered and no test of it failed. The status counts only if a test checks it. */
export function passed({ error, tests }: RequestResult): boolean {
  return error === null && tests.every(({ status }) => status !== 'failed');
}

/** One line for the request, and one for each test that did not pass. */
export function resultLines(result: RequestResult): string[] {
  const { path, request, response, error, tests, unresolved, console: written } = result;
  const answer = response === null ? 'no answer' : `${response.status} ${response.statusText}`.trim();
  const size = response === null ? '' : `, ${response.bodyBytes} bytes, ${Math.round(response.durationMs)} ms`;
  return [
    `${passed(result) ? 'ok    ' : 'FAILED'} ${path.join(' / ')}: ${request.method} ${request.url} -> ${answer}${size}`,
    ...written.map((line) => `         ${line}`),
    ...(error === null ? [] : [`         ${error.error}`]),
    ...tests.flatMap(({ name, status, message }) => {
      if (status === 'passed') return [`       + ${name}`];
      return [status === 'skipped' ? `       - ${name} (skipped)` : `       x ${name}: ${message}`];
    }),
    ...(unresolved.length === 0 ? [] : [`         no value for ${unresolved.map((name) => `{{${name}}}`).join(', ')}`]),
  ];
}
