import { isProblem, type PageProblem, type Sought } from '../../tabs/page-calls.js';
import { resolve } from '../resolve.js';
import { pointsOf } from '../tree/geometry.js';
import type { Point } from '../tree/point.js';
import { bringIntoView } from '../tree/scrolling.js';

/** Where a drag ends. It is found before the drag begins: what is carried may change names on its way. */
export class DropPlace {
  #element: Element | null = null;

  /** @param locator null for the element that was found before, where it is by now; it is scrolled to if need be */
  point({ locator, ...shown }: Sought<string | null>): Point | PageProblem {
    const element = locator === null ? this.#element : resolve({ locator, ...shown });
    if (element === null) return { problem: 'blocked', reason: 'has gone during the drag', final: true };
    if (isProblem(element)) return element;
    this.#element = element;
    const [point] = pointsOf(element);
    if (point !== undefined) return point;
    if (locator !== null) return { x: 0, y: 0 };
    bringIntoView(element);
    const [scrolledTo] = pointsOf(element);
    return scrolledTo ?? { problem: 'blocked', reason: 'cannot be scrolled into view', final: false };
  }
}
