import { isProblem, type MovedNumber } from '../page/page-calls.js';
import type { Bounds } from './browser/bounds.js';
import { problemError } from './locating/problem-error.js';
import { dialogControl } from './tabs/dialog-controls.js';
import type { Tab } from './tabs/tab.js';

/**
 * The text that is drawn in an element, or in the whole page; of a page that asks something, what it asks.
 *
 * @param markdown as Markdown
 * @throws what a locator that is wrong or ambiguous deserves
 */
export async function readText(tab: Tab, locator: string | null, bounds: Bounds, markdown = false): Promise<string> {
  if (tab.dialog !== null && (locator === null || locator.startsWith('{dialog}'))) return tab.dialog.message;
  const answer = await tab.askAny('text', markdown ? { locator, markdown } : { locator }, bounds);
  if (isProblem(answer)) throw problemError(answer, locator ?? '', tab);
  return answer.text;
}

/**
 * What stands in a field, or in a dialog's; a password is masked.
 *
 * @throws what a locator that is wrong or ambiguous deserves
 */
export async function readValue(tab: Tab, locator: string, bounds: Bounds): Promise<unknown> {
  const control = dialogControl(tab.dialog, locator);
  if (control !== undefined) return control.value ?? '';
  const answer = await tab.askAny('value', { locator }, bounds);
  if (isProblem(answer)) throw problemError(answer, locator, tab);
  return answer.value;
}

/** Numbered locators of the page, frames of other origins aside, that mean another element than when only what is in sight was counted. */
export async function readMoved(
  tab: Tab,
  locators: readonly string[],
  bounds: Bounds,
): Promise<readonly MovedNumber[]> {
  const { moved } = await tab.askAny('recount', { locators }, bounds);
  return moved;
}
