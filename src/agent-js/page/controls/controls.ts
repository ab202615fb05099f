import { nameMemory } from '../names/name-memory.js';
import type { Sight } from '../tree/sight.js';
import { type Collected, Collector } from './collector.js';
import type { Control } from './control.js';
import { discoveries } from './discoveries.js';
import type { Evidence } from './evidence.js';

/** A whole list, and what it rests on. */
interface Known {
  readonly collected: Collected;
  readonly byElement: ReadonlyMap<Element, Control>;
  readonly evidence: Evidence;
  readonly sight: Sight;
  /** Of the memory, when it was made. */
  readonly changes: number;
}

let last: Known | undefined;

/**
 * Everything in the documents that can be reached from here that a person can operate now, in the order of drawing, with
 * the places of frames of other origins. The same object as the last time where nothing has changed.
 */
export function collect(): Collected {
  return collectWhere(() => true);
}

/** The controls that a predicate holds for. */
export function collectControls(fits: (control: Control) => boolean): readonly Control[] {
  return collectWhere(fits).controls.filter(fits);
}

/** Those too that something covers: an error speaks of them, and an action waits until they are free. */
export function collectCovered(fits: (control: Control) => boolean): readonly Control[] {
  return new Collector(attentive(undefined), true).collect().controls.filter(fits);
}

/** A list that is right about those that the predicate holds for. */
function collectWhere(fits: (control: Control) => boolean): Collected {
  const memory = attentive(last?.evidence);
  if (last !== undefined && last.changes === memory.changes) {
    const { byElement, evidence, sight, collected } = last;
    // What is in no list was covered, and may be free now.
    const matters = (element: Element): boolean => {
      const control = byElement.get(element);
      return control === undefined || fits(control);
    };
    if (evidence.holds(sight, matters)) return collected;
  }
  const collector = new Collector(memory, false);
  const collected = collector.collect();
  memory.allAttended();
  // What a walk finds to observe counts as a change; it has been taken in.
  const { changes, hasFields } = memory;
  const byElement = new Map(collected.controls.map((control) => [control.element, control]));
  last = hasFields
    ? undefined
    : { collected, byElement, evidence: collector.evidence, sight: collector.sight, changes };
  return collected;
}

/** The memory, once all that has happened has reached it. */
function attentive(evidence: Evidence | undefined) {
  const memory = nameMemory();
  memory.observe(document);
  discoveries()?.ask(window, memory.mutations);
  evidence?.ask(memory.mutations);
  memory.refresh(`${innerWidth} ${innerHeight} ${devicePixelRatio} ${discoveries()?.count} ${ruleCounts()}`);
  return memory;
}

/** Rises and falls with the rules of the document's style sheets: a script that adds one changes no node. */
function ruleCounts(): string {
  return `${rulesIn(document.styleSheets)} ${rulesIn(document.adoptedStyleSheets)}`;
}

function rulesIn(sheets: ArrayLike<CSSStyleSheet>): string {
  let rules = 0;
  for (let index = 0; index < sheets.length; index++) {
    const sheet = sheets[index];
    try {
      if (sheet?.disabled === false) rules += sheet.cssRules.length;
    } catch {
      // Another origin's sheet keeps its rules to itself; that it is there counts.
      rules += 1;
    }
  }
  return `${sheets.length} ${rules}`;
}
