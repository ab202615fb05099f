import { isInside, parentOf } from '../tree/flat-tree.js';
import { elementAt, isInView, pointIn, viewportRect } from '../tree/geometry.js';
import type { Point } from '../tree/point.js';
import { bringIntoView, scrollersOf } from '../tree/scrolling.js';

type Axis = 'x' | 'y';

/** Places along a scroller where it is looked whether something lies over it. */
const PLACES = 24;
/** The longest free stretches of a scroller are tried. */
const MAX_STRETCHES = 3;
/** Scrollers that stand in one another are tried, the nearest first. */
const MAX_SCROLLERS = 4;
/** In one action an element is scrolled about so often: what covers it may move too. */
const MAX_ROUNDS = 4;

/** Where it was of no use to scroll: as long as nothing has moved, it would be of none again. */
let failed: { readonly element: Element; readonly layout: string; readonly rounds: number } | null = null;

/** An action begins. */
export function forgetCovers(): void {
  failed = null;
}

/**
 * Scrolls an element out from under what stays where it is while its scroller moves: a head, a foot, a column, a message.
 * Where no position is free, the element is left in the middle of its scroller.
 *
 * @param aim the point that is to be free, in the outermost viewport
 */
export function uncover(element: Element, cover: Element, aim: () => Point | null, isFree: () => boolean): boolean {
  const layout = (): string => [layoutOf(element), layoutOf(cover)].join();
  const rounds = failed?.element === element ? failed.rounds : 0;
  if (failed?.element === element && (failed.layout === layout() || rounds >= MAX_ROUNDS)) return false;
  if (tryPositions(element, aim, isFree)) return true;
  bringIntoView(element);
  failed = { element, layout: layout(), rounds: rounds + 1 };
  return false;
}

function tryPositions(element: Element, aim: () => Point | null, isFree: () => boolean): boolean {
  for (const block of ['end', 'start'] as const) {
    bringIntoView(element, block);
    if (isFree()) return true;
  }
  for (const axis of ['y', 'x'] as const) {
    bringIntoView(element);
    for (const scroller of scrollersOf(element, axis).slice(0, MAX_SCROLLERS)) {
      for (const place of openPlaces(scroller, axis, aim())) {
        moveTo(scroller, axis, aim(), place);
        if (isFree()) return true;
      }
    }
  }
  return false;
}

function layoutOf(element: Element): string {
  const { x, y, width, height } = viewportRect(element);
  const sizes = scrollersOf(element, 'y').map(({ scrollHeight, clientHeight }) => `${scrollHeight} ${clientHeight}`);
  return [...[x, y, width, height].map(Math.round), ...sizes].join(' ');
}

/** Middles of the stretches of a scroller, along an axis through a point, over which nothing stays; the longest first. */
function openPlaces(scroller: Element, axis: Axis, through: Point | null): readonly Point[] {
  if (through === null) return [];
  const { left, top, width, height } = shownBox(scroller);
  const along = Array.from({ length: PLACES }, (_, index) => (index + 0.5) / PLACES);
  const stretches: Point[][] = [[]];
  for (const part of along) {
    const place = axis === 'y' ? { x: through.x, y: top + height * part } : { x: left + width * part, y: through.y };
    if (isOpen(place, scroller)) stretches.at(-1)?.push(place);
    else stretches.push([]);
  }
  return stretches
    .filter(({ length }) => length > 0)
    .sort((a, b) => b.length - a.length)
    .slice(0, MAX_STRETCHES)
    .flatMap((stretch) => {
      const [first, last] = [stretch[0], stretch.at(-1)];
      return first === undefined || last === undefined
        ? []
        : [{ x: (first.x + last.x) / 2, y: (first.y + last.y) / 2 }];
    });
}

/** What is seen of what a scroller scrolls. */
function shownBox(scroller: Element): DOMRect {
  const inner = scroller.ownerDocument;
  const { clientWidth, clientHeight, clientLeft, clientTop } = scroller;
  const { x, y } = scroller.getBoundingClientRect();
  const isPage = scroller === inner.scrollingElement;
  const [left, top] = isPage ? [0, 0] : [x + clientLeft, y + clientTop];
  return viewportRect(scroller, new DOMRect(left, top, clientWidth, clientHeight));
}

/** Whether what is drawn at a point moves with the scroller. */
function isOpen(point: Point, scroller: Element): boolean {
  const hit = isInView(point) ? elementAt(point) : null;
  if (hit === null || !isInside(hit, scroller)) return false;
  for (let node: Element | null = hit; node !== null && node !== scroller; node = parentOf(node)) {
    if (/^(?:fixed|sticky|-webkit-sticky)$/.test(getComputedStyle(node).position)) return false;
  }
  return true;
}

/** So that one point comes to another, as far as it goes. */
function moveTo(scroller: Element, axis: Axis, from: Point | null, to: Point): void {
  const here = from === null ? null : pointIn(scroller.ownerDocument, from);
  const there = pointIn(scroller.ownerDocument, to);
  if (here === null || there === null) return;
  const [left, top] = axis === 'y' ? [0, here.y - there.y] : [here.x - there.x, 0];
  scroller.scrollBy({ left, top, behavior: 'instant' });
}
