import { encodeError, TroupeError } from '../protocol/errors.js';

/** The command was called wrongly: the message is followed by the command that explains it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What answers where the service would be is not known to be this user's service, and was sent nothing. */
export class UnprovenService extends TroupeError {
  /** @param says what it says of itself; null if it was not asked */
  constructor(
    why: string,
    readonly says: 'starting' | 'running' | 'other' | null,
  ) {
    super('UNAVAILABLE', why);
  }
}

/** A failure as a person at the terminal should read it: the sentence; with its stack only where it is our fault. */
export function describeFailure(error: unknown): string {
  const { code, error: message } = encodeError(error);
  if (code !== 'INTERNAL' || error instanceof UsageError) return message;
  return error instanceof Error ? (error.stack ?? message) : message;
}
