import { errorCode, sentenceOf } from '../../base/system-fault.js';
import { TroupeError } from '../../protocol/errors.js';

/** An engine's refusal, as the cause of the error that it became. */
class Refusal extends Error {
  readonly statusCode: number;

  constructor(message: string, statusCode: number) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** A call of the engine that failed, for people. */
export function engineFault(socketPath: string, what: string, cause?: unknown): TroupeError {
  return new TroupeError('UNAVAILABLE', `Docker engine at ${socketPath}: ${what}`, undefined, { cause });
}

/** A call that the engine answered with a status which says no. `call` is its method and path. */
export function engineRefusal(socketPath: string, call: string, said: string, status: number): TroupeError {
  return engineFault(socketPath, `${said} (${call} answered ${status})`, new Refusal(said, status));
}

/** The status that the engine refused a call with; null for any other failure. */
export function refusalStatus(error: unknown): number | null {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Refusal ? cause.statusCode : null;
}

/**
 * For `.catch()` of a call that the engine may refuse with these statuses: answers the status.
 * @throws what was thrown, for any other failure
 */
export function refusedWith(...statuses: readonly number[]): (error: unknown) => number {
  return (error) => {
    const status = refusalStatus(error);
    if (status === null || !statuses.includes(status)) throw error;
    return status;
  };
}

/** Why there was no answer, and what to do. */
export function whyNoAnswer(cause: unknown): string {
  switch (errorCode(cause)) {
    case 'ENOENT':
      return 'there is no such socket';
    case 'EACCES':
      return 'this user may not use it; add the user to the group docker, or run as root';
    case 'ECONNREFUSED':
      return 'no engine is listening';
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return 'it closed the connection before it had answered; try again';
    default:
      return sentenceOf(cause);
  }
}
