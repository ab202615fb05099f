import { nearestBox } from './boxless.js';
import { frameOf, isHtml, isInside, parentOf } from './flat-tree.js';
import { elementAt, pointsOf } from './geometry.js';
import { pictureOf } from './image-map.js';
import type { Point } from './point.js';
import { drawnRect } from './visibility.js';

/** Of what is seen at once, this part goes with one step. */
const STEP = 0.8;
/** Scrolls any list to its end, in pixels. */
const TO_THE_END = 1_000_000;

/** How far: a part of what is seen at once, pixels, or to the end. */
interface Way {
  readonly axis: 'x' | 'y';
  readonly sign: 1 | -1;
  readonly pixels: number | null;
}

/** What came of a scroll: null is done, or the wheel has to be turned so far over the element. */
export type Scrolled = null | { readonly refusal: string } | { readonly wheel: readonly [dx: number, dy: number] };

/**
 * Scrolls: without a value the element into view, otherwise the element by a step, some pixels or to an end. What scrolls
 * nothing by itself is left to the wheel, as maps and tables that listen to it, and parts of a list.
 */
export function scroll(element: Element, value: string | null): Scrolled {
  if (value === null || value === '') {
    bringIntoView(element);
    return null;
  }
  const way = wayOf(value);
  if (way === null) return { refusal: 'scrolls up, down, left, right, to top, to bottom, or by a number of pixels' };
  const own = ownScroller(element, way.axis);
  const box = own ?? scrollerOf(element, way.axis);
  const step = (way.axis === 'x' ? box.clientWidth : box.clientHeight) * STEP;
  const distance = way.sign * (way.pixels ?? step);
  const [left, top] = way.axis === 'x' ? [distance, 0] : [0, distance];
  if (own === null) return { wheel: [left, top] };
  own.scrollBy({ left, top, behavior: 'instant' });
  return null;
}

function wayOf(value: string): Way | null {
  switch (value) {
    case 'down':
      return { axis: 'y', sign: 1, pixels: null };
    case 'up':
      return { axis: 'y', sign: -1, pixels: null };
    case 'right':
      return { axis: 'x', sign: 1, pixels: null };
    case 'left':
      return { axis: 'x', sign: -1, pixels: null };
    case 'bottom':
      return { axis: 'y', sign: 1, pixels: TO_THE_END };
    case 'top':
      return { axis: 'y', sign: -1, pixels: TO_THE_END };
    default: {
      const pixels = Number(value);
      if (!Number.isFinite(pixels)) return null;
      return { axis: 'y', sign: pixels < 0 ? -1 : 1, pixels: Math.abs(pixels) };
    }
  }
}

/**
 * To the middle of what scrolls it, or to another place along its height; also what is a part of another's box, which may be
 * larger than the view of it.
 */
export function bringIntoView(element: Element, block: 'start' | 'center' | 'end' = 'center'): void {
  const boxed = pictureOf(element) ?? nearestBox(element);
  boxed.scrollIntoView({ block, inline: 'center', behavior: 'instant' });
  if (boxed !== element) center(boxed, () => middleOf(element));
}

/** The same for a point of an element, in CSS pixels from its corner. */
export function bringPointIntoView(element: Element, at: Point): void {
  bringIntoView(element);
  center(element, () => {
    const { left, top } = element.getBoundingClientRect();
    return { x: left + at.x, y: top + at.y };
  });
}

function middleOf(element: Element): Point | null {
  const part = drawnRect(element);
  return part === null ? null : { x: part.left + part.width / 2, y: part.top + part.height / 2 };
}

function center(boxed: Element, at: () => Point | null): void {
  const page = boxed.ownerDocument.scrollingElement;
  for (const box of new Set([scrollerOf(boxed, 'y'), scrollerOf(boxed, 'x'), page])) {
    const part = at();
    if (part === null || box === null) continue;
    const { clientWidth, clientHeight } = box;
    const { x, y } = box === page ? { x: 0, y: 0 } : box.getBoundingClientRect();
    box.scrollBy({ left: part.x - (x + clientWidth / 2), top: part.y - (y + clientHeight / 2), behavior: 'instant' });
  }
}

/** What an element scrolls: itself, or what fills its middle, as the body of a table does. Null: nothing of its own. */
function ownScroller(element: Element, axis: Way['axis']): Element | null {
  if (scrolls(element, axis)) return element;
  const page = element.ownerDocument.scrollingElement;
  if (page !== null && (isHtml(element, 'body') || isHtml(element, 'html')) && overflows(page, axis)) return page;
  if (pointsOf(element).length === 0) bringIntoView(element);
  const [middle] = pointsOf(element);
  const hit = middle === undefined ? null : elementAt(middle);
  if (hit === null || !isInside(hit, element)) return null;
  for (let node: Element | null = hit; node !== null && node !== element; node = parentOf(node)) {
    if (scrolls(node, axis)) return node;
  }
  return null;
}

/** What scrolls an element: itself, what is around it, or the page. */
export function scrollerOf(element: Element, axis: Way['axis']): Element {
  for (let node: Element | null = element; node !== null; node = parentOf(node)) if (scrolls(node, axis)) return node;
  return element.ownerDocument.scrollingElement ?? element.ownerDocument.documentElement;
}

/** All that scrolls an element, the innermost first, through the frames around it. */
export function scrollersOf(element: Element, axis: Way['axis']): Element[] {
  const found: Element[] = [];
  for (let node: Element | null = element; node !== null; ) {
    const scroller: Element = scrollerOf(node, axis);
    found.push(scroller);
    const { scrollingElement, documentElement } = scroller.ownerDocument;
    // In quirks mode that is the body, and the root around it would have it once more.
    const isPage = scroller === scrollingElement || scroller === documentElement;
    node = isPage ? frameOf(scroller.ownerDocument) : parentOf(scroller);
  }
  return found;
}

function scrolls(element: Element, axis: Way['axis']): boolean {
  if (!overflows(element, axis)) return false;
  const { overflowX, overflowY } = getComputedStyle(element);
  return /auto|scroll/.test(axis === 'x' ? overflowX : overflowY);
}

function overflows(element: Element, axis: Way['axis']): boolean {
  return axis === 'x' ? element.scrollWidth > element.clientWidth : element.scrollHeight > element.clientHeight;
}
