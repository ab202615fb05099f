import { frameOf, isElement, isHtml, isInside, parentOf } from './flat-tree.js';
import { cellsOf, isSeenAt, linePoints, reaches } from './geometry.js';
import { shapeOf } from './image-map.js';
import { isLayerOver } from './layers.js';
import type { Point } from './point.js';
import { isIn, isReachable, LEAST, type Region, Regions } from './regions.js';
import { drawnRect, type Rect } from './visibility.js';

/** What covers less of the viewport than this can be scrolled away from under. */
const VEIL_PART = 0.9;

/** Where something that is rendered is for a person: in view, to be scrolled to, or out of reach: covered, or clipped for good. */
export type Whereabouts = 'here' | 'offscreen' | 'unreachable';

/** Finds out where elements are, by what is drawn at their places. Valid for one turn. */
export class Sight {
  readonly #regions = new Regions();
  readonly #veils = new Map<Document, Element | null>();
  /** Of the frames around an element. */
  readonly #closed = new Map<Element, boolean>();
  readonly #hit = new WeakSet<Element>();

  /** @param shown what is looked for in the element's place: itself, or its label */
  whereIs(element: Element, shown: Element, rect: Rect | null = drawnRect(shown)): Whereabouts {
    if (rect === null || this.#isInClosedFrame(shown)) return 'unreachable';
    const region = this.#regions.around(shown);
    if (isIn(rect, region)) return this.#inView(element, shown, rect, region);
    if (!isReachable(rect, region)) return 'unreachable';
    const veil = this.#veilOf(element.ownerDocument);
    const isFree = veil === null || isInside(element, veil) || isLayerOver(element, veil);
    return isFree ? 'offscreen' : 'unreachable';
  }

  /** Whether a person can see an element where it is, or scroll to it, whatever covers it. */
  isReachable(element: Element, rect: Rect): boolean {
    const region = this.#regions.around(element);
    return isIn(rect, region) || isReachable(rect, region);
  }

  /** Whether an element that was found in view gets what is pressed in its middle. */
  isHit(element: Element): boolean {
    return this.#hit.has(element);
  }

  /** Whether any point of it that could be pointed at is open. */
  #inView(element: Element, shown: Element, rect: Rect, region: Region): Whereabouts {
    const root = shown.getRootNode() as Document | ShadowRoot;
    const middle = hitAt(root, rect, region, 0.5, 0.5);
    if (middle === null) return 'here';
    if (reaches(middle, shown) || reaches(middle, element)) {
      this.#hit.add(element);
      return 'here';
    }
    const isOpen = (hit: Element): boolean => isSeenAt(hit, shown) || isSeenAt(hit, element);
    if (isOpen(middle)) return 'here';
    const isOpenAt = (point: Point): boolean => {
      const hit = isWithin(point, region) ? root.elementFromPoint(point.x, point.y) : null;
      return hit !== null && isOpen(hit);
    };
    const open = isHtml(shown, 'area')
      ? isOpenPart(shown, region)
      : boxesOf(shown, rect).some((box) =>
          POINTS.some(([across, down]) => {
            const hit = hitAt(root, box, region, across, down);
            return hit !== null && isOpen(hit);
          }),
        );
    if (open || ('ownerSVGElement' in shown && linePoints(shown).some(isOpenAt))) return 'here';
    // From under a bar at the edge it can be scrolled.
    return canMoveAway(element, middle, region) ? 'offscreen' : 'unreachable';
  }

  /** Whether a frame that an element stands in is out of reach. */
  #isInClosedFrame(element: Element): boolean {
    const frame = frameOf(element.ownerDocument);
    if (frame === null) return false;
    let isClosed = this.#closed.get(frame);
    if (isClosed === undefined) {
      isClosed = this.whereIs(frame, frame) === 'unreachable';
      this.#closed.set(frame, isClosed);
    }
    return isClosed;
  }

  /** What covers the whole viewport of a document, so that nothing but itself can be used. */
  #veilOf(inner: Document): Element | null {
    const known = this.#veils.get(inner);
    if (known !== undefined) return known;
    const veil = findVeil(inner);
    this.#veils.set(inner, veil);
    return veil;
  }
}

/** Where a row has cells. Text that wraps is not where the middle of its box is. */
function boxesOf(shown: Element, rect: Rect): readonly Rect[] {
  const cells = cellsOf(shown);
  if (cells !== null) return [cells];
  const boxes = shown.getClientRects();
  return boxes.length > 1 ? [...boxes].slice(0, 4) : [rect];
}

const POINTS = [
  [0.5, 0.5],
  [0.15, 0.5],
  [0.85, 0.5],
  [0.5, 0.15],
  [0.5, 0.85],
] as const;

/** The element that is drawn at a point of the part of a box that can be seen. */
function hitAt(root: Document | ShadowRoot, rect: Rect, region: Region, across: number, down: number): Element | null {
  const left = Math.max(rect.left, region.left);
  const right = Math.min(rect.right, region.right);
  const top = Math.max(rect.top, region.top);
  const bottom = Math.min(rect.bottom, region.bottom);
  if (right - left < LEAST || bottom - top < LEAST) return null;
  return root.elementFromPoint(left + (right - left) * across, top + (bottom - top) * down);
}

/** Whether there is a point of a part of a picture that nothing lies over, nor another part. */
function isOpenPart(area: Element, region: Region): boolean {
  const root = area.getRootNode() as Document | ShadowRoot;
  const points = shapeOf(area)?.points ?? [];
  return points.some((point) => isWithin(point, region) && root.elementFromPoint(point.x, point.y) === area);
}

function isWithin({ x, y }: Point, { left, top, right, bottom }: Region): boolean {
  return x >= left && x < right && y >= top && y < bottom;
}

/** Whether scrolling takes the element out from under its cover: the cover stands still and leaves room. */
function canMoveAway(element: Element, cover: Element, region: Region): boolean {
  let moves = false;
  for (let at: Region | null = region; at !== null; at = at.outer) {
    const box = at.outer === null ? (element.ownerDocument.scrollingElement ?? at.element) : at.element;
    if (at.scrollsY && box.scrollHeight > box.clientHeight + LEAST) moves = true;
    if (at.scrollsX && box.scrollWidth > box.clientWidth + LEAST) moves = true;
  }
  if (!moves) return false;
  for (let node: Element | null = cover; node !== null && !isInside(element, node); node = parentOf(node)) {
    const { position } = getComputedStyle(node);
    if (position !== 'fixed' && position !== 'sticky') continue;
    return !isVeil(node.getBoundingClientRect(), element.ownerDocument);
  }
  return false;
}

/** Whether something lies over all of a document's viewport, or nearly. */
export function isVeil({ left, top, right, bottom }: Rect, inner: Document): boolean {
  const { innerWidth: width, innerHeight: height } = inner.defaultView ?? window;
  const across = Math.min(right, width) - Math.max(left, 0);
  const down = Math.min(bottom, height) - Math.max(top, 0);
  return across >= width * VEIL_PART && down >= height * VEIL_PART;
}

/** A fixed element that is met near all corners. */
function findVeil(inner: Document): Element | null {
  const { innerWidth: width, innerHeight: height } = inner.defaultView ?? window;
  const corners = [
    [8, 8],
    [width - 8, 8],
    [8, height - 8],
    [width - 8, height - 8],
  ] as const;
  let veil: Element | null = null;
  for (const [x, y] of corners) {
    let fixed: Element | null = null;
    for (let node: Element | null = inner.elementFromPoint(x, y); node !== null; node = parentOf(node)) {
      if (node.ownerDocument !== inner) break;
      if (getComputedStyle(node).position === 'fixed' && isVeil(node.getBoundingClientRect(), inner)) fixed = node;
    }
    if (!isElement(fixed) || (veil !== null && veil !== fixed)) return null;
    veil = fixed;
  }
  return veil;
}
