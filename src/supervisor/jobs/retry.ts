import type { ErrorCode } from '../../protocol/errors.js';
import type { AutoRequest, SessionRecord } from '../../protocol/session.js';
import type { SessionEnd } from '../sessions/index.js';

/**
 * Errors after which another attempt may succeed. An unreachable model is not among them: the call was repeated
 * already,
 * and fallbacks were tried; nor is a used-up number of answers.
 */
const RETRIED: ReadonlySet<ErrorCode> = new Set([
  'FLOW_FAILED',
  'TASK_FAILED',
  'HARD_TIMEOUT',
  'WORKER_LOST',
  'INTERRUPTED',
]);

/** The attempts that a job has left after the one in its record. */
export function retriesLeft({ retries = 0 }: AutoRequest, { attempt }: SessionRecord): number {
  return Math.max(0, retries - attempt + 1);
}

/** Whether a job is retried in a fresh browser after its attempt ended this way. */
export function isRetried(request: AutoRequest, record: SessionRecord, { status, error }: SessionEnd): boolean {
  return status === 'failed' && error !== null && RETRIED.has(error.code) && retriesLeft(request, record) > 0;
}
