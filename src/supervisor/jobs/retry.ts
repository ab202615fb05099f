import type { ErrorCode } from '../../protocol/errors.js';
import type { AutoRequest, SessionRecord } from '../../protocol/session.js';
import type { SessionEnd } from '../sessions/index.js';

/**
 * Ends that another attempt may change. A model that cannot be reached was tried again already, by itself and its
 * fallbacks, and answers that were used up stay used up.
 */
const RETRIED: ReadonlySet<ErrorCode> = new Set([
  'FLOW_FAILED',
  'TASK_FAILED',
  'HARD_TIMEOUT',
  'WORKER_LOST',
  'INTERRUPTED',
]);

/** Attempts that a job has left after the one that its record is about. */
export function retriesLeft({ retries = 0 }: AutoRequest, { attempt }: SessionRecord): number {
  return Math.max(0, retries - attempt + 1);
}

/** Whether a job whose attempt ended so begins again in a fresh browser. */
export function beginsAgain(request: AutoRequest, record: SessionRecord, { status, error }: SessionEnd): boolean {
  return status === 'failed' && error !== null && RETRIED.has(error.code) && retriesLeft(request, record) > 0;
}
