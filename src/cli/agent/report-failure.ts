import { failureResult } from '../../gateway/mcp/result-content.js';
import { type ErrorCode, encodeError } from '../../protocol/errors.js';
import { describeFailure, UsageError } from '../../terminal/failure.js';
import { printError } from '../../terminal/output.js';

/** Nothing was tried in the page. */
const COULD_NOT_RUN: readonly ErrorCode[] = [
  'UNAVAILABLE',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'FORBIDDEN_ORIGIN',
  'NOT_FOUND',
  'SESSION_ENDED',
  'INVALID_REQUEST',
  'CAPACITY',
];

/**
 * Runs a command's work. A failure is printed to standard error as models get it: code, message, what else could be meant, and the
 * page.
 * @returns 0 done, 1 the page did not do it, 2 it could not run
 */
export async function reported(work: () => Promise<void>): Promise<number> {
  try {
    await work();
    return 0;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code } = encodeError(error);
    const [first] = failureResult(error).content;
    const text = code !== 'INTERNAL' && first?.type === 'text' ? first.text : describeFailure(error);
    const advice = code === 'UNAUTHORIZED' ? '\nSet TROUPE_TOKEN to an access token of the service' : '';
    printError(`${text}${advice}\n`);
    return COULD_NOT_RUN.includes(code) ? 2 : 1;
  }
}
