import type { ErrorBody } from '../../protocol/errors.js';
import type { RequestDraft } from '../request.js';
import type { HttpResponse } from '../run/response.js';

/** One `pm.test`, or one `match` outside of it. */
export interface TestResult {
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Why it failed; empty else. */
  readonly message: string;
}

/** What became of one request of a run. */
export interface RequestResult {
  /** Folders from the outside in, then the request. */
  readonly path: readonly string[];
  /** As it was sent, but for tokens. */
  readonly request: RequestDraft;
  /** Null where there was no answer: `error` says why. Its body is disposed of when the run's listener has seen it. */
  readonly response: HttpResponse | null;
  readonly error: ErrorBody | null;
  readonly tests: readonly TestResult[];
  /** Variables that had no value; they were sent as they stand. */
  readonly unresolved: readonly string[];
  /** Console lines of the scripts. */
  readonly console: readonly string[];
  readonly durationMs: number;
}

/** A request passed when it was answered and no test of it failed. What the status is, its tests say. */
export function passed({ error, tests }: RequestResult): boolean {
  return error === null && tests.every(({ status }) => status !== 'failed');
}
