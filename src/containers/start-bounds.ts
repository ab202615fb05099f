import { onAbort, withSignal } from '../base/deadline.js';
import { TroupeError } from '../protocol/errors.js';
import type { StartBounds } from './driver.js';

/**
 * Does the work with one signal for all of its steps, aborted with UNAVAILABLE when the asker gives up or the deadline
 * passes.
 * @param cleanUpMs what the work may take of the deadline to clean up after it was aborted, half of it at most
 */
export async function withinBounds<T>(
  { signal, deadlineMs }: StartBounds,
  work: (signal: AbortSignal) => Promise<T>,
  cleanUpMs = 0,
): Promise<T> {
  const given = new AbortController();
  const forget = onAbort(signal, () => {
    const message = 'The start of a browser was cancelled';
    given.abort(new TroupeError('UNAVAILABLE', message, undefined, { cause: signal.reason }));
  });
  const late = () => new TroupeError('UNAVAILABLE', `No browser was ready within ${deadlineMs} ms`);
  const ms = Math.max(deadlineMs - cleanUpMs, deadlineMs / 2);
  return withSignal({ signals: [given.signal], ms, late }, work).finally(forget);
}
