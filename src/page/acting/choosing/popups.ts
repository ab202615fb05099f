import { isInside, walk } from '../../tree/flat-tree.js';
import { elementAt, isInView, isSeenAt, viewportRect } from '../../tree/geometry.js';
import { isParked } from '../../tree/parked.js';
import { isShown } from '../../tree/visibility.js';

/** Elements beyond this are not looked at. */
const MAX_ELEMENTS = 20_000;
const SOLID = { visibilityProperty: true, opacityProperty: true } as const;

/** Everything that a person can see now, or could by scrolling the page. */
export function shownNow(): WeakSet<Element> {
  const shown = new WeakSet<Element>();
  let count = 0;
  walk(document.documentElement, true, (element) => {
    if (++count > MAX_ELEMENTS) return undefined;
    if (isPerceived(element)) shown.add(element);
    return element.checkVisibility() || element.localName === 'slot' ? true : undefined;
  });
  return shown;
}

/** The outermost elements that are seen now and were not before. */
export function appeared(before: WeakSet<Element>, control: Element): readonly Element[] {
  const found: Element[] = [];
  walk(document.documentElement, true, (element) => {
    if (element.localName === 'head' || element.localName === 'script' || element.localName === 'style')
      return undefined;
    if (!element.checkVisibility() && element.localName !== 'slot') return undefined;
    if (before.has(element) || isInside(control, element) || !isPerceived(element)) return true;
    // An element around what was seen before is none that has appeared: it has only been uncovered.
    if (element.firstElementChild !== null && holdsSeen(element, before)) return true;
    found.push(element);
    return undefined;
  });
  return found;
}

function holdsSeen(element: Element, before: WeakSet<Element>): boolean {
  for (const one of element.getElementsByTagName('*')) if (before.has(one)) return true;
  return false;
}

/** A list that is closed may be drawn through, cut to nothing, covered, or parked far outside of the page. */
function isPerceived(element: Element): boolean {
  if (!isShown(element) || !element.checkVisibility(SOLID)) return false;
  if (isParked(element)) return false;
  const { left, top, width, height } = viewportRect(element);
  const middle = { x: left + width / 2, y: top + height / 2 };
  if (!isInView(middle)) return true;
  const hit = elementAt(middle);
  return hit === null || isSeenAt(hit, element) || element.firstElementChild !== null;
}
