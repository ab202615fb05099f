import { pageChanges } from '../changes.js';
import { type Collected, Collector } from './collector.js';
import type { Control } from './control.js';
import { discoveries } from './discoveries.js';

/** Which controls are wanted. */
export interface Wanted {
  /** A word by which they are called; `*`, and by default: all. */
  readonly word?: string;
  /** Further, those that it holds for. It may be asked of what is not rendered, too. */
  readonly fits?: (control: Control) => boolean;
}

/**
 * Everything that is rendered in the documents that can be reached from here and that a person can operate, in the order of
 * the document, with the places of frames of other origins. What covers it, or whether it is in view, does not count.
 *
 * @param takesWord of elements that say by `aria-modal` that what lies behind them is inert
 */
export function collect({ word = '*', fits = () => true }: Wanted = {}, takesWord = true): Collected {
  pageChanges.observe(document);
  discoveries()?.ask(window, pageChanges.mutations);
  const byWord = word === '*' ? null : new Collector(takesWord, word).collect(fits);
  const isCalled = (control: Control): boolean => word === '*' || control.words.includes(word);
  const collected = byWord ?? new Collector(takesWord, '*').collect((one) => isCalled(one) && fits(one));
  pageChanges.allAttended();
  return collected ?? { controls: [], gaps: [] };
}
