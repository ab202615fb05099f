import { mayPassAgain } from '../../protocol/errors.js';
import type { AutoRequest, SessionRecord } from '../../protocol/session.js';
import type { SessionEnd } from '../sessions/index.js';

/** The attempts that a job has left after the one in its record. */
export function retriesLeft({ retries = 0 }: AutoRequest, { attempt }: SessionRecord): number {
  return Math.max(0, retries - attempt + 1);
}

/** Whether a job is retried in a fresh browser after its attempt ended this way. */
export function isRetried(request: AutoRequest, record: SessionRecord, { status, error }: SessionEnd): boolean {
  return status === 'failed' && error !== null && mayPassAgain(error) && retriesLeft(request, record) > 0;
}
