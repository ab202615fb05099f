import { nameMemory } from '../names/name-memory.js';
import { type Collected, Collector } from './collector.js';
import type { Control } from './control.js';
import { discoveries } from './discoveries.js';

/**
 * Everything that is rendered in the documents that can be reached from here and that a person can operate, in the order of
 * the document, with the places of frames of other origins. What covers it, or whether it is in view, does not count.
 *
 * @param takesWord of elements that say by `aria-modal` that what lies behind them is inert
 */
export function collect(takesWord = true): Collected {
  const memory = nameMemory();
  memory.observe(document);
  discoveries()?.ask(window, memory.mutations);
  const collected = new Collector(memory, takesWord).collect();
  memory.allAttended();
  return collected;
}

/** The controls that a predicate holds for. */
export function collectControls(fits: (control: Control) => boolean): readonly Control[] {
  return collect().controls.filter(fits);
}
