import { pause, stretched } from '../../base/deadline.js';
import { meantByWords } from '../../page/locator.js';
import { isProblem, type MissingProblem } from '../../page/page-calls.js';
import { TroupeError } from '../../protocol/errors.js';
import { type Bounds, cancelledError, remainingMs, within } from '../browser/bounds.js';
import { insteadWords, problemError } from '../locating/problem-error.js';
import { isOnDialog } from '../tabs/dialog-controls.js';
import type { Tab } from '../tabs/tab.js';
import type { Tabs } from '../tabs/tabs.js';

/** After DOMContentLoaded a page that goes on loading is given this long. */
const LOAD_MS = stretched(3_000);

/**
 * Waits for `"navigation"`, `"idle"`, a locator to appear, `"!"` and a locator to go, or a number of milliseconds.
 *
 * @throws WAIT_TIMEOUT at the deadline
 */
export async function waitFor(tabs: Tabs, condition: string | number, bounds: Bounds): Promise<void> {
  const tab = tabs.active;
  const { mark } = tab.navigation;
  tab.navigation.mark = tab.navigation.count;
  if (typeof condition === 'number') return waitTime(condition, bounds);
  switch (condition) {
    case 'navigation':
      return waitForNavigation(tabs, tab, mark, bounds);
    case 'idle':
      return waitForIdle(tab, bounds);
    default: {
      const gone = condition.startsWith('!');
      return waitForElement(tab, gone ? condition.slice(1) : condition, gone, bounds);
    }
  }
}

/** A wait that ran into its deadline, with its locator and time; other errors are thrown as they are. */
export function unfulfilledWait(error: unknown, condition: string | number, waitedMs: number): TroupeError {
  if (!(error instanceof TroupeError) || error.code !== 'WAIT_TIMEOUT') throw error;
  const named = typeof condition === 'string' && condition !== 'navigation' && condition !== 'idle';
  const locator = named ? { locator: condition.replace(/^!/, '') } : {};
  const details = { ...error.details, ...locator, waitedMs };
  return new TroupeError('WAIT_TIMEOUT', `${error.message} (waited ${waitedMs} ms)`, details, { cause: error });
}

/** Waits until the document that is coming is there, and for a little while until it has loaded. False: it is not there. */
export async function waitUntilLoaded(tab: Tab, bounds: Bounds): Promise<boolean> {
  const { navigation } = tab;
  const there = await tab.until(() => tab.dialog !== null || navigation.isSettled('DOMContentLoaded'), bounds);
  if (there) await tab.until(() => tab.dialog !== null || navigation.isSettled('load'), within(bounds, LOAD_MS));
  return there;
}

async function waitForNavigation(tabs: Tabs, tab: Tab, mark: number, bounds: Bounds): Promise<void> {
  const { navigation } = tab;
  // Another tab in front, opened by this one, is a navigation too.
  const happened = await tab.until(() => navigation.count > mark || tabs.active !== tab, bounds);
  const front = tabs.active;
  if (!happened || !(await waitUntilLoaded(front, bounds))) throw timeout('No navigation started');
  front.navigation.mark = front.navigation.count;
}

async function waitForIdle(tab: Tab, bounds: Bounds): Promise<void> {
  tab.network.watch();
  const idle = await tab.until(() => tab.network.isIdle && tab.navigation.pending === null, bounds);
  if (!idle) throw timeout('The network did not become quiet');
}

async function waitForElement(tab: Tab, locator: string, gone: boolean, bounds: Bounds): Promise<void> {
  for (;;) {
    if (tab.dialog !== null) {
      if (isOnDialog(tab.dialog, locator) !== gone) return;
      const { dialog } = tab;
      if (!(await tab.until(() => tab.dialog !== dialog, bounds))) throw timeout(tab.dialogError().message);
    }
    const asked = await tab.ask('waitFor', { locator, gone, ms: remainingMs(bounds) }, bounds);
    if (asked.kind === 'answer') {
      if (isProblem(asked.value)) throw problemError(asked.value, locator, tab);
      if (asked.value.found) return;
    }
    if (remainingMs(bounds) > 0) continue;
    if (gone) throw timeout(`${locator} did not disappear`);
    const missing = await explainMissing(tab, locator, bounds);
    const instead = missing === null ? '' : insteadWords(missing);
    const candidates = missing?.near ?? [];
    throw new TroupeError('WAIT_TIMEOUT', `${locator} did not appear${meantByWords(locator)}${instead}`, {
      candidates,
    });
  }
}

/** What the page has in place of a locator that finds nothing; null if the page does not say. */
async function explainMissing(tab: Tab, locator: string, bounds: Bounds): Promise<MissingProblem | null> {
  const request = { locator, what: 'visible', name: null, since: null, ms: 0, explain: true } as const;
  const asked = await tab.ask('observe', request, within(bounds, 0)).catch(() => null);
  const observed = asked?.kind === 'answer' ? asked.value.observed : null;
  return observed?.kind === 'problem' && observed.problem.problem === 'missing' ? observed.problem : null;
}

/** Never shorter than asked for: a timer may fire up to a millisecond early. */
async function waitTime(ms: number, bounds: Bounds): Promise<void> {
  const allowed = remainingMs(bounds);
  const endsAt = performance.now() + Math.min(ms, allowed);
  try {
    for (let left = endsAt - performance.now(); left > 0; left = endsAt - performance.now()) {
      await pause(Math.ceil(left), { signal: bounds.signal });
    }
  } catch {
    throw cancelledError();
  }
  if (ms > allowed) throw timeout(`The script reaches its time limit before ${ms} ms have passed`);
}

function timeout(message: string): TroupeError {
  return new TroupeError('WAIT_TIMEOUT', message);
}
