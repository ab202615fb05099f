import { ErrorBodySchema, type SessionRecord } from '../protocol/session.js';

const MAX_REASON = 1_000;

/** Why a job failed, for a message: the cause, the first line of its text, and where it was. */
export interface FailureReason {
  readonly code: string;
  readonly message: string;
  /** The flow that failed; null if the failure was not in a flow. */
  readonly flow: string | null;
  readonly line: number | null;
}

/** The cause of a session's error: the error of a flow wraps the one of its call. */
export function failureReason(error: NonNullable<SessionRecord['error']>): FailureReason {
  const cause = ErrorBodySchema.safeParse(error.details?.cause).data ?? error;
  const flow = cause.details?.flow ?? error.details?.flow;
  const line = cause.details?.line ?? error.details?.line;
  const [first = ''] = cause.error.split('\n');
  return {
    code: cause.code,
    message: cut(first, MAX_REASON),
    flow: typeof flow === 'string' ? flow : null,
    line: typeof line === 'number' ? line : null,
  };
}

/** At most `longest` characters; what is cut off ends with an ellipsis. */
export function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
