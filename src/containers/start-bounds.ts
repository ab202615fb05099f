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
  const cut = new AbortController();
  const onAbort = (): void => {
    const message = 'The start of a browser was given up';
    cut.abort(new TroupeError('UNAVAILABLE', message, undefined, { cause: signal.reason }));
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const late = new TroupeError('UNAVAILABLE', `No browser was ready within ${deadlineMs} ms`);
  const timer = setTimeout(() => cut.abort(late), Math.max(deadlineMs - cleanUpMs, deadlineMs / 2));
  try {
    return await work(cut.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
