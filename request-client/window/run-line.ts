import { passed, type RequestResult } from '../engine/collection-run/result.js';
import type { RunLine, SentView } from '../protocol/request-window.js';

/** A result as a line of a run's table. `sent` has its texts without tokens. */
export function runLine(result: RequestResult, sent: SentView, iteration: number): RunLine {
  const { id, method, url, response, error, tests, unresolved, durationMs } = sent;
  return {
    sentId: id,
    iteration,
    path: result.path,
    method,
    url,
    status: response?.status ?? null,
    durationMs: response?.durationMs ?? durationMs,
    passed: passed(result),
    tests: tests.length,
    problems: [
      ...(error === null ? [] : [error.error]),
      ...tests.filter(({ status }) => status === 'failed').map(({ name, message }) => `${name}: ${message}`),
      ...(unresolved.length === 0 ? [] : [`No value for ${unresolved.map((name) => `{{${name}}}`).join(', ')}`]),
    ],
  };
}
