import { pageChanges } from '../changes.js';
import { type Collected, Collector, type Wanted } from './collector.js';
import type { Control } from './control.js';
import { discoveries } from './discoveries.js';

/**
 * Everything that is rendered in the documents that can be reached from here and that a person can operate, in the order of
 * the document, with the places of frames of other origins. What covers it, or whether it is in view, does not count.
 *
 * @param wanted by default, all that are not inert
 */
export function collect(wanted: Partial<Wanted> = {}): Collected {
  const { word = '*', fits = () => true, inert = false, takesWord = true } = wanted;
  pageChanges.observe(document);
  discoveries()?.ask(window, pageChanges.mutations);
  const byWord = word === '*' ? null : new Collector({ word, fits, inert, takesWord }).collect();
  const isCalled = (control: Control): boolean => word === '*' || control.words.includes(word);
  const all: Wanted = { word: '*', fits: (one) => isCalled(one) && fits(one), inert, takesWord };
  const collected = byWord ?? new Collector(all).collect();
  pageChanges.allAttended();
  return collected ?? { controls: [], inert: [], gaps: [] };
}
