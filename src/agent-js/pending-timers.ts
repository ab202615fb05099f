import { stretched } from '../base/deadline.js';
import type { PendingTimer } from '../page/page-calls.js';
import type { Tab } from './tabs/tab.js';

const ANSWER_MS = stretched(250);

/** The timers of the page that are still to come; null if it does not answer. Never rejects. Bounded. */
export async function pendingTimers(tab: Tab | undefined): Promise<readonly PendingTimer[] | null> {
  if (tab === undefined || tab.dialog !== null || tab.state !== 'open') return null;
  const end = performance.now() + ANSWER_MS;
  const bounds = { deadline: end, end, signal: new AbortController().signal };
  const asked = await tab.ask('pending', null, bounds).catch(() => null);
  return asked?.kind === 'answer' ? asked.value.timers : null;
}
