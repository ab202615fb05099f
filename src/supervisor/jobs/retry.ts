import type { ErrorBody, ErrorCode } from '../../protocol/errors.js';
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

/** Mistakes in a flow's own code, which fail in the same way each time. */
const MISTAKE = /^(?:Syntax|Type|Reference)Error\b/;

/** The attempts that a job has left after the one in its record. */
export function retriesLeft({ retries = 0 }: AutoRequest, { attempt }: SessionRecord): number {
  return Math.max(0, retries - attempt + 1);
}

/** Whether a job is retried in a fresh browser after its attempt ended this way. */
export function isRetried(request: AutoRequest, record: SessionRecord, { status, error }: SessionEnd): boolean {
  if (status !== 'failed' || error === null || !RETRIED.has(error.code) || isMistake(error)) return false;
  return retriesLeft(request, record) > 0;
}

function isMistake({ details }: ErrorBody): boolean {
  const cause: unknown = details?.cause;
  const code: unknown = Reflect.get(Object(cause), 'code');
  const text: unknown = Reflect.get(Object(cause), 'error');
  return code === 'FLOW_NOT_FOUND' || (code === 'SCRIPT_ERROR' && typeof text === 'string' && MISTAKE.test(text));
}
