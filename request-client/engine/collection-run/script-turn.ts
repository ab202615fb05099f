import type { VariableScope } from '../collection/variables.js';
import type { HttpResponse } from '../run/response.js';
import type { TestResult } from './result.js';

/** The position of a request in its run. */
export interface Iteration {
  /** From 0. */
  readonly index: number;
  readonly count: number;
  /** A row of the run's data. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** The input and output of the scripts of one request. */
export interface ScriptTurn {
  readonly id: string;
  /** Of the folders and the request. */
  readonly path: readonly string[];
  /** As in the collection; Before scripts change its request. Once it is sent, with its variables replaced. */
  item: unknown;
  response: HttpResponse | null;
  /** Variables of the request's folders. */
  readonly folders: readonly VariableScope[];
  readonly iteration: Iteration;
  readonly tests: TestResult[];
  readonly console: string[];
  /** Of timers and callbacks, which fail alone. */
  readonly errors: string[];
  /** Set by `setNextRequest`: a request's name, or null for the end; undefined if it was not called. */
  next: string | null | undefined;
  /** `pm.execution.skipRequest` was called. */
  skipped: boolean;
}
