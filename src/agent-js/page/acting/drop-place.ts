import { isProblem, type PageProblem } from '../../tabs/page-calls.js';
import { resolve } from '../resolve.js';
import { pointsOf } from '../tree/geometry.js';
import type { Point } from '../tree/point.js';
import { bringIntoView } from '../tree/scrolling.js';
import type { WindowListeners } from '../window-listeners.js';

/** Where a drag ends. It is found before the drag begins: what is carried may change names on its way. */
export class DropPlace {
  #element: Element | null = null;

  /** @param locator null for the element that was found before, where it is by now; it is scrolled to if need be */
  point(locator: string | null): Point | PageProblem {
    const element = locator === null ? this.#element : resolve(locator);
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

/** Hears what a document says to things that are carried over it: a page takes them by preventing the browser's default. */
export class DragOver {
  #last: Event | null = null;

  constructor(listeners: WindowListeners) {
    listeners.add(['dragover'], (event) => this.#note(event), { capture: true });
  }

  /** Of the last one, once its listeners have been called. */
  get taken(): boolean {
    return this.#last?.defaultPrevented === true;
  }

  #note(event: Event): void {
    this.#last = event;
  }
}
