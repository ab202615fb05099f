import { pause } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import { type Bounds, cancelledError, remainingMs } from '../browser/bounds.js';
import type { Tab } from '../tabs/tab.js';

/** Settles when the page has changed, and after `longestMs` in any case, because not everything gives a sign. */
export async function pageChange(tab: Tab | undefined, longestMs: number, bounds: Bounds): Promise<void> {
  const ms = Math.min(longestMs, remainingMs(bounds));
  try {
    if (tab === undefined || tab.dialog !== null) return await pause(ms, { signal: bounds.signal });
    const asked = await tab.ask('change', { ms }, bounds);
    // The next document may not be there yet.
    if (asked.kind !== 'answer') await pause(Math.min(ms, 10), { signal: bounds.signal });
  } catch (error) {
    if (bounds.signal.aborted) throw cancelledError();
    if (error instanceof TroupeError && error.code === 'ACTION_FAILED') return;
    throw error;
  }
}
