import { EVENT_TYPES, kindOfEvent } from '../event-kinds.js';
import { indexPerRoot } from '../tree/index-per-root.js';
import { discoveries } from './discoveries.js';

const SELECTOR = EVENT_TYPES.map((type) => `[on${type}]`).join();

/** Elements with handlers in their markup, and what those react to. */
const written = indexPerRoot<Element, Element>((root, add) => {
  for (const element of root.querySelectorAll(SELECTOR)) add(element, element);
});

/** What the handlers in an element's markup react to, as bits of event-kinds. */
export function writtenKinds(element: Element): number {
  if (written(element, element).length === 0) return 0;
  return EVENT_TYPES.reduce(
    (kinds, type) => (element.hasAttribute(`on${type}`) ? kinds | kindOfEvent(type) : kinds),
    0,
  );
}

/** What an element reacts to by listeners and by its markup, as bits of event-kinds. */
export function reactionsOf(element: Element): number {
  return (discoveries()?.kindsOf(element) ?? 0) | writtenKinds(element);
}
