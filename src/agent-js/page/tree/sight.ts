import { isElement, isHtml, isInside, parentOf } from './flat-tree.js';
import { cellsOf, reaches } from './geometry.js';
import { shapeOf } from './image-map.js';
import { innerEdges, type Rect } from './visibility.js';

/** Less than this of an element, in CSS pixels, is nothing that one could point at. */
const LEAST = 1;
/** What covers less of the viewport than this can be scrolled away from under. */
const VEIL_PART = 0.9;

/** Edges in CSS pixels of a document's viewport. */
interface Edges {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The part of a document in which something can be seen: what is left of the viewport, of the boxes around it that clip. */
export interface Region extends Edges {
  /** What clips: a box, or the root of a document. */
  readonly element: Element;
  /** Its own edges, whether or not they are in view; infinite along an axis that it does not clip. */
  readonly box: Edges;
  /** Whether a person can move what is in it, along each axis. */
  readonly scrollsX: boolean;
  readonly scrollsY: boolean;
  /** How far it is scrolled from its beginning; infinite where that is on the other side. */
  readonly scrolledX: number;
  readonly scrolledY: number;
  /** Around it, in the same document. */
  readonly outer: Region | null;
}

/** Where something is for a person: in view, to be scrolled to, or nowhere. */
export type Whereabouts = 'here' | 'offscreen' | 'nowhere';

/** What is drawn at a point. */
export interface Hit {
  readonly root: Document | ShadowRoot;
  readonly x: number;
  readonly y: number;
  readonly element: Element;
}

/** Where something is, and which hit showed it, if one was enough. */
export interface Sighted {
  readonly is: Whereabouts;
  readonly hit: Hit | null;
}

/**
 * The region of a document's viewport.
 *
 * @param seen what can be seen of it: less than all of it in a frame that is partly in view
 * @param size of the whole viewport, in CSS pixels
 */
export function viewportRegion(
  root: Element,
  seen: Edges,
  size: { readonly width: number; readonly height: number },
): Region {
  const { scrollsX, scrollsY } = pageScrolling(root);
  const scroller = root.ownerDocument.scrollingElement ?? root;
  const scrolled = { scrolledX: beginsLeft(getComputedStyle(root), scroller), scrolledY: scroller.scrollTop };
  const box = { left: 0, top: 0, right: size.width, bottom: size.height };
  return { ...seen, element: root, box, scrollsX, scrollsY, ...scrolled, outer: null };
}

/** The region inside an element that clips. */
export function clippedRegion(element: Element, style: CSSStyleDeclaration, outer: Region): Region {
  const own = innerEdges(element);
  const scrolls = (overflow: string) => overflow === 'auto' || overflow === 'scroll';
  const acrossClips = style.overflowX !== 'visible';
  const downClips = style.overflowY !== 'visible';
  const scrollsX = !acrossClips || scrolls(style.overflowX);
  const scrollsY = !downClips || scrolls(style.overflowY);
  const box = {
    left: acrossClips ? own.left : Number.NEGATIVE_INFINITY,
    right: acrossClips ? own.right : Number.POSITIVE_INFINITY,
    top: downClips ? own.top : Number.NEGATIVE_INFINITY,
    bottom: downClips ? own.bottom : Number.POSITIVE_INFINITY,
  };
  return {
    left: Math.max(outer.left, box.left),
    right: Math.min(outer.right, box.right),
    top: Math.max(outer.top, box.top),
    bottom: Math.min(outer.bottom, box.bottom),
    element,
    box,
    scrollsX,
    scrollsY,
    scrolledX: scrollsX ? beginsLeft(style, element) : 0,
    scrolledY: scrollsY ? element.scrollTop : 0,
    outer,
  };
}

/** How far something is scrolled from its left edge. Right to left, what lies before the beginning is on the other side. */
function beginsLeft({ direction }: CSSStyleDeclaration, scroller: Element): number {
  return direction === 'rtl' ? Number.POSITIVE_INFINITY : scroller.scrollLeft;
}

/** Finds out where elements are, by what is drawn at their places. Valid for one turn. */
export class Sight {
  readonly #veils = new Map<Document, Element | null>();
  readonly #through: boolean;

  /** @param through sees through what covers an element */
  constructor(through: boolean) {
    this.#through = through;
  }

  /**
   * @param shown what is looked for in the element's place: itself, or its label
   * @param region the one around it
   */
  whereIs(element: Element, shown: Element, rect: Rect, region: Region): Sighted {
    if (isIn(rect, region)) return this.#through ? HERE : inView(element, shown, rect, region);
    if (!isReachable(rect, region)) return NOWHERE;
    if (this.#through) return OFFSCREEN;
    const veil = this.#veilOf(element.ownerDocument);
    return veil === null || isInside(element, veil) ? OFFSCREEN : NOWHERE;
  }

  /** Whether what was found to cover a document does so still, and nothing else does. */
  isAsBefore(): boolean {
    for (const [inner, veil] of this.#veils) if (findVeil(inner) !== veil) return false;
    return true;
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

const HERE: Sighted = { is: 'here', hit: null };
const OFFSCREEN: Sighted = { is: 'offscreen', hit: null };
const NOWHERE: Sighted = { is: 'nowhere', hit: null };

/** Of what is in view: whether any point of it that could be pointed at is open. */
function inView(element: Element, shown: Element, rect: Rect, region: Region): Sighted {
  const isOpen = (hit: Hit): boolean => reaches(hit.element, shown) || reaches(hit.element, element);
  const root = shown.getRootNode() as Document | ShadowRoot;
  const middle = hitAt(root, rect, region, 0.5, 0.5);
  if (middle === null) return HERE;
  if (isOpen(middle)) return { is: 'here', hit: middle };
  const open = isHtml(shown, 'area')
    ? isOpenPart(shown, region)
    : boxesOf(shown, rect).some((box) =>
        POINTS.some(([across, down]) => {
          const hit = hitAt(root, box, region, across, down);
          return hit !== null && isOpen(hit);
        }),
      );
  if (open) return HERE;
  // From under a bar at the edge it can be scrolled.
  return canMoveAway(element, middle.element, region) ? OFFSCREEN : NOWHERE;
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

export function isIn(rect: Rect, { left, top, right, bottom }: Region): boolean {
  return (
    Math.min(rect.right, right) - Math.max(rect.left, left) >= LEAST &&
    Math.min(rect.bottom, bottom) - Math.max(rect.top, top) >= LEAST
  );
}

function hitAt(root: Document | ShadowRoot, rect: Rect, region: Region, across: number, down: number): Hit | null {
  const left = Math.max(rect.left, region.left);
  const right = Math.min(rect.right, region.right);
  const top = Math.max(rect.top, region.top);
  const bottom = Math.min(rect.bottom, region.bottom);
  if (right - left < LEAST || bottom - top < LEAST) return null;
  const x = left + (right - left) * across;
  const y = top + (bottom - top) * down;
  const element = root.elementFromPoint(x, y);
  return element === null ? null : { root, x, y, element };
}

/** Whether there is a point of a part of a picture that nothing lies over, nor another part. */
function isOpenPart(area: Element, { left, top, right, bottom }: Region): boolean {
  const root = area.getRootNode() as Document | ShadowRoot;
  const points = shapeOf(area)?.points ?? [];
  return points.some(({ x, y }) => {
    return x >= left && x < right && y >= top && y < bottom && root.elementFromPoint(x, y) === area;
  });
}

/**
 * Whether a person can bring what is out of view into it: each box around it, from the inside out, shows it or scrolls to
 * it; then it is as if it stood in that box.
 */
function isReachable({ left, top, right, bottom }: Edges, inside: Region): boolean {
  let across: Span | null = { from: left, to: right };
  let down: Span | null = { from: top, to: bottom };
  for (let region: Region | null = inside; region !== null; region = region.outer) {
    const { box, scrollsX, scrollsY, scrolledX, scrolledY } = region;
    across = shownPart(across, { from: box.left, to: box.right }, scrollsX, scrolledX);
    down = shownPart(down, { from: box.top, to: box.bottom }, scrollsY, scrolledY);
    if (across === null || down === null) return false;
  }
  return true;
}

/** Along one axis. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** The part of a span that a box shows, once it has been scrolled to; null where nobody can scroll to it. */
function shownPart(span: Span, box: Span, scrolls: boolean, scrolled: number): Span | null {
  const from = Math.max(span.from, box.from);
  const to = Math.min(span.to, box.to);
  if (to - from >= LEAST) return { from, to };
  // Nobody scrolls to what lies before the beginning.
  return scrolls && span.to + scrolled > box.from ? box : null;
}

function pageScrolling(root: Element): { readonly scrollsX: boolean; readonly scrollsY: boolean } {
  const own = getComputedStyle(root);
  const body = root.ownerDocument.body;
  // What body says holds for the page where html says nothing (https://drafts.csswg.org/css-overflow-3/#overflow-propagation).
  const style = own.overflowX === 'visible' && own.overflowY === 'visible' && body ? getComputedStyle(body) : own;
  const moves = (overflow: string) => overflow !== 'hidden' && overflow !== 'clip';
  return { scrollsX: moves(style.overflowX), scrollsY: moves(style.overflowY) };
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

/** A fixed element that is met near all corners, or the open dialog that says it is modal. */
function findVeil(inner: Document): Element | null {
  for (const modal of inner.querySelectorAll('[aria-modal="true"]')) {
    if (modal.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && modal.clientHeight > 0)
      return modal;
  }
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
