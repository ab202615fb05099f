import { counted } from '../../protocol/counted.js';
import { type Bounds, remainingMs, within } from '../browser/bounds.js';
import type { Tab } from '../tabs/tab.js';

/** A look waits for what a call before it has begun so long at most. */
const SETTLE_MS = 1_000;

/** Notes that a call may have a page ask for more: scripts, data, animations. The next look waits for it. */
export function stir(tab: Tab): void {
  tab.stirred = true;
  tab.network.mark();
}

/**
 * Waits for what the calls since the last look have begun: animations that end, timers set by an input, requests that change
 * what the page shows. One second at most.
 *
 * @returns what was still under way then; null: nothing
 */
export async function settled(tab: Tab, bounds: Bounds): Promise<string | null> {
  if (!tab.stirred) return null;
  tab.stirred = false;
  const limit = within(bounds, SETTLE_MS);
  for (let painted = false; tab.dialog === null; painted = true) {
    const asked = await tab.ask('settle', { ms: remainingMs(limit), painted }, bounds);
    if (asked.kind !== 'answer') return null;
    const { awaited } = tab.network;
    const { busy } = asked.value;
    if (busy === null && awaited === 0) return null;
    if (remainingMs(limit) <= 0) return busy ?? counted(awaited, 'open request');
    await tab.until(() => tab.network.awaited === 0 || tab.dialog !== null, limit);
  }
  return null;
}
