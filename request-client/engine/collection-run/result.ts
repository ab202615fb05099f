import { LineSplitter } from '#troupe/base/lines.js';
import { plainLine } from '#troupe/base/plain-text.js';
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

/** What tells a later iteration from the first one in names. @param iteration from 0 */
export function iterationNote(iteration: number): string {
  return iteration === 0 ? '' : ` [iteration ${iteration + 1}]`;
}

/**
 * One line for the request, and below it, indented, what scripts wrote and its tests. Nothing that servers, scripts, or files say
 * can begin a line of its own.
 *
 * @param iteration from 0
 */
export function resultLines(result: RequestResult, iteration = 0): string[] {
  const { path, request, response, error, tests, unresolved, console: written } = result;
  const answer = response === null ? 'no answer' : `${response.status} ${response.statusText}`.trim();
  const size = response === null ? '' : `, ${response.bodyBytes} bytes, ${Math.round(response.durationMs)} ms`;
  const name = `${path.join(' / ')}${iterationNote(iteration)}`;
  return [
    plainLine(`${passed(result) ? 'ok    ' : 'FAILED'} ${name}: ${request.method} ${request.url} -> ${answer}${size}`),
    ...written.flatMap((text) => indented('', text)),
    ...(error === null ? [] : indented('', error.error)),
    ...tests.flatMap(({ name, status, message }) => {
      if (status === 'passed') return indented('+ ', name);
      return status === 'skipped' ? indented('- ', `${name} (skipped)`) : indented('x ', `${name}: ${message}`);
    }),
    ...(unresolved.length === 0
      ? []
      : indented('', `no value for ${unresolved.map((name) => `{{${name}}}`).join(', ')}`)),
  ];
}

const INDENT = 9;

/** @param sign what stands before the text, in the indentation */
function indented(sign: string, text: string): string[] {
  const lines = new LineSplitter({ ends: 'any' }).push(`${text}\n`);
  return lines.map((line, index) => `${(index === 0 ? sign : '').padStart(INDENT)}${plainLine(line ?? '')}`);
}
