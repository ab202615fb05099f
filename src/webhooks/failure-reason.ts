import { failureOfError } from '../protocol/report/failure-of-error.js';
import type { SessionRecord } from '../protocol/session.js';

const MAX_REASON = 1_000;

/** Why a job failed, for a message: the cause, the first line of its text, and where it was. */
export interface FailureReason {
  readonly code: string;
  readonly message: string;
  /** The flow that failed; null if the failure was not in a flow. */
  readonly flow: string | null;
  readonly line: number | null;
}

export function failureReason(error: NonNullable<SessionRecord['error']>): FailureReason {
  const { code, message, flow = null, line = null } = failureOfError(error);
  const [first = ''] = message.split('\n');
  return { code, message: cut(first, MAX_REASON), flow, line };
}

/** At most `longest` characters; what is cut off ends with an ellipsis. */
export function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
