import { TroupeError } from '../protocol/errors.js';
import type { StartBounds } from './driver.js';

/**
 * Does the work with one signal for all of its steps, aborted with UNAVAILABLE when the asker gives up or the deadline
 * passes.
 */
export async function withinBounds<T>(
  { signal, deadlineMs }: StartBounds,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const cut = new AbortController();
  const onAbort = (): void => {
    const message = 'The start of a browser was given up';
    cut.abort(new TroupeError('UNAVAILABLE', message, undefined, { cause: signal.reason }));
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => {
    cut.abort(new TroupeError('UNAVAILABLE', `No browser was ready within ${deadlineMs} ms`));
  }, deadlineMs);
  try {
    return await work(cut.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
