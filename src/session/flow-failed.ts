import { flowOfFile } from '../base/flow-file.js';
import type { ErrorBody } from '../protocol/errors.js';

/** The flow did nothing, or returned a function: there is nothing in the browser that a model could do about that. */
export function isBeyondRepair(cause: ErrorBody): boolean {
  return cause.code === 'FLOW_FAILED';
}

/**
 * The error of a job whose flow failed: FLOW_FAILED, or HARD_TIMEOUT if the session's time limit ended it.
 * @param path the flow's file
 */
export function flowFailed(path: string, cause: ErrorBody, timeIsUp: boolean): ErrorBody {
  const { flow, line, column, url, title } = cause.details ?? {};
  const at = typeof flow === 'string' ? flow : flowOfFile(path);
  const isAfter = typeof column !== 'number';
  const where = typeof line !== 'number' ? at : isAfter ? `${at}, after line ${line}` : `${at}:${line}`;
  return {
    code: timeIsUp ? 'HARD_TIMEOUT' : 'FLOW_FAILED',
    error: timeIsUp ? `The session reached its time limit in ${where}: ${cause.error}` : `${where}: ${cause.error}`,
    details: {
      flow: at,
      line: line ?? null,
      column: column ?? null,
      url: url ?? null,
      title: title ?? null,
      cause,
    },
  };
}
