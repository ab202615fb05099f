import { parseLocator } from '../../locating/locator.js';
import {
  type CornerPoint,
  type DropPoint,
  type DropRequest,
  isProblem,
  PAST_MIDDLE,
  type PageProblem,
} from '../../tabs/page-calls.js';
import { roleOf } from '../names/roles.js';
import { inertReason, resolve } from '../resolve.js';
import { isInside } from '../tree/flat-tree.js';
import { elementAt, isInView, isSeenAt, pointFromCorner, pointsOf } from '../tree/geometry.js';
import type { Point } from '../tree/point.js';
import { bringIntoView } from '../tree/scrolling.js';
import type { WindowListeners } from '../window-listeners.js';

/** Lists move their items for as long as this while something is dragged over them, in milliseconds. */
const STILL_MS = 1_000;
const LOOK_EVERY_MS = 30;
/** A frame is waited for so long, in milliseconds. */
const FRAME_MS = 250;
/** What has not moved for so many looks stands still. */
const STILL_LOOKS = 3;

/** Where a drag ends. It is found before the drag begins: what is carried may change names on its way. */
export class DropPlace {
  #element: Element | null = null;

  /**
   * @param sought without a locator, the element that was found before, where it is by now; it is scrolled to if need be
   * @param still waits until it stands still
   */
  async point({ locator, still, at, ...shown }: DropRequest): Promise<DropPoint | PageProblem> {
    const element = locator === null ? this.#element : resolve({ locator, ...shown });
    if (element === null) return blocked('has gone during the drag', true);
    if (isProblem(element)) return element;
    const inert = locator === null ? null : inertReason(element, parseLocator(locator)?.kind === 'text');
    if (inert !== null) return blocked(inert, false);
    this.#element = element;
    if (still) await untilStill(element);
    const point = pointOf(element, at);
    if (point === 'outside') return blocked(outside(element, at ?? { x: 0, y: 0 }), true);
    if (point !== null) return point;
    if (locator !== null) return { x: 0, y: 0, width: 0, height: 0, into: false };
    bringIntoView(element);
    const seen = pointOf(element, at);
    return seen === null || seen === 'outside' ? blocked('cannot be scrolled into view', false) : seen;
  }
}

function pointOf(element: Element, at: CornerPoint | null): DropPoint | 'outside' | null {
  const corner = at === null ? undefined : pointFromCorner(element, at);
  if (corner === null) return 'outside';
  const points = corner === undefined ? pointsOf(element) : isInView(corner) ? [corner] : [];
  const [middle] = points;
  if (middle === undefined) return null;
  const { width, height } = element.getBoundingClientRect();
  const drawn =
    corner === undefined && isEmptyAt(element, middle) ? points.find((one) => isDrawnAt(element, one)) : undefined;
  const point = drawn ?? middle;
  const past = [-PAST_MIDDLE, PAST_MIDDLE].flatMap((part) => [
    { x: point.x + part * width, y: point.y },
    { x: point.x, y: point.y + part * height },
  ]);
  const into = roleOf(element) === 'treeitem' || past.some((one) => isEmptyAt(element, one));
  return { ...point, width, height, into };
}

/** What is around an element shows through there, as between the parts of a drawing. What is carried hides nothing. */
function isEmptyAt(element: Element, point: Point): boolean {
  const hit = elementAt(point);
  return hit !== null && hit !== element && isInside(element, hit) && !isSeenAt(hit, element);
}

function isDrawnAt(element: Element, point: Point): boolean {
  const hit = elementAt(point);
  return hit !== null && isSeenAt(hit, element);
}

/** Why a point is none of an element, completing "it ...". */
export function outside(element: Element, { x, y }: CornerPoint): string {
  const { width, height } = element.getBoundingClientRect();
  return `has no point ${x}, ${y}: it is ${Math.round(width)} x ${Math.round(height)}`;
}

async function untilStill(element: Element): Promise<void> {
  const deadline = performance.now() + STILL_MS;
  let before = '';
  for (let same = 0; same < STILL_LOOKS && performance.now() < deadline; ) {
    const { x, y, width, height } = element.getBoundingClientRect();
    const now = `${x} ${y} ${width} ${height}`;
    same = now === before ? same + 1 : 0;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    await frameDrawn();
  }
}

/** What moves is seen to move by frames alone, which a busy browser draws late; one that is hidden draws none. */
function frameDrawn(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => resolve());
    setTimeout(resolve, FRAME_MS);
  });
}

function blocked(reason: string, final: boolean): PageProblem {
  return { problem: 'blocked', reason, final };
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
