import { EVENT_TYPES, FOCUS, kindOfEvent } from '../event-kinds.js';
import { allRoots } from '../tree/flat-tree.js';
import { discoveries } from './discoveries.js';

const SELECTOR = EVENT_TYPES.map((type) => `[on${type}]`).join();

/** Elements with handlers in their markup. Known for one turn, in which nothing changes: most pages have none. */
let written: Set<Element> | null = null;

/** Begins a turn in which a walk tells of each document and shadow root by {@link readMarkup}. */
export function beginMarkup(): void {
  if (written === null) {
    queueMicrotask(() => {
      written = null;
    });
  }
  written = new Set();
  readMarkup(document);
}

/** Takes in the handlers in the markup of a document or a shadow root. */
export function readMarkup(root: Document | ShadowRoot): void {
  for (const element of root.querySelectorAll(SELECTOR)) written?.add(element);
}

/** What the handlers in an element's markup react to, as bits of event-kinds. */
export function writtenKinds(element: Element): number {
  if (written === null) {
    beginMarkup();
    for (const root of allRoots().slice(1)) readMarkup(root);
  }
  if (written?.has(element) !== true) return 0;
  return EVENT_TYPES.reduce(
    (kinds, type) => (element.hasAttribute(`on${type}`) ? kinds | kindOfEvent(type) : kinds),
    0,
  );
}

/** What an element reacts to by listeners and by its markup, as bits of event-kinds, without that it hears of its focus. */
export function reactionsOf(element: Element): number {
  return kindsOf(element) & ~FOCUS;
}

/** Whether an element reacts when it gets the focus. */
export function hearsFocus(element: Element): boolean {
  return (kindsOf(element) & FOCUS) !== 0;
}

function kindsOf(element: Element): number {
  return (discoveries()?.kindsOf(element) ?? 0) | writtenKinds(element);
}
