import { frameDocument, frameOf, isFrame, parentOf } from './flat-tree.js';
import { pictureOf } from './image-map.js';
import { innerEdges, type Rect } from './visibility.js';

/** Less than this of an element, in CSS pixels, is nothing that one could point at. */
export const LEAST = 1;

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

/** What holds for the children of an element. */
interface Inside {
  readonly region: Region;
  /** The region of the nearest ancestor that absolutely placed elements are placed in. */
  readonly placed: Region;
  /** The region of the document's viewport. */
  readonly view: Region;
}

/** In what region each element stands. Valid for one turn. */
export class Regions {
  readonly #inside = new Map<Element | null, Inside>();

  /** The region around an element. */
  around(element: Element): Region {
    const boxed = pictureOf(element) ?? element;
    const inside = this.#insideOf(parentOf(boxed));
    // What is fixed has no parent to be placed in, nor has what is not HTML. Most pages clip little and fix less: then
    // nobody has to ask for a style.
    const flows = inside.region === inside.placed && (boxed as Partial<HTMLElement>).offsetParent != null;
    return flows ? inside.region : placedIn(getComputedStyle(boxed), inside).region;
  }

  /** Iterative, since a page may nest deeper than a stack reaches. */
  #insideOf(element: Element | null): Inside {
    const path: Element[] = [];
    let node = element;
    while (node !== null && !this.#inside.has(node)) {
      path.push(node);
      node = parentOf(node);
    }
    let inside = this.#inside.get(node);
    if (inside === undefined) {
      inside = inView(document.documentElement, { left: 0, top: 0, right: innerWidth, bottom: innerHeight });
      this.#inside.set(null, inside);
    }
    for (const one of path.reverse()) {
      inside = insideOf(one, inside);
      this.#inside.set(one, inside);
    }
    return inside;
  }
}

function insideOf(element: Element, around: Inside): Inside {
  const style = getComputedStyle(element);
  const own = placedIn(style, around);
  const root = frameDocument(element)?.documentElement ?? null;
  if (root !== null) return inView(root, seenInFrame(element, own.region));
  return isFrame(element) ? own : clipped(element, style, own);
}

/** @param seen what can be seen of the document: less than all of it in a frame that is partly in view */
function inView(root: Element, seen: Edges): Inside {
  const { scrollsX, scrollsY } = pageScrolling(root);
  const scroller = root.ownerDocument.scrollingElement ?? root;
  const scrolled = { scrolledX: beginsLeft(getComputedStyle(root), scroller), scrolledY: scroller.scrollTop };
  const frame = frameOf(root.ownerDocument);
  const [right, bottom] = frame === null ? [innerWidth, innerHeight] : [frame.clientWidth, frame.clientHeight];
  const box = { left: 0, top: 0, right, bottom };
  const view = { ...seen, element: root, box, scrollsX, scrollsY, ...scrolled, outer: null };
  return { region: view, placed: view, view };
}

/** Fixed and absolutely placed elements are clipped by other boxes than those around them. */
function placedIn({ position }: CSSStyleDeclaration, inside: Inside): Inside {
  if (position === 'static' || position === 'relative' || position === 'sticky') return inside;
  const region = position === 'fixed' ? fixedRegion(inside.view) : inside.placed;
  return region === inside.region ? inside : { ...inside, region };
}

function fixedRegion(view: Region): Region {
  return view.scrollsX || view.scrollsY ? { ...view, scrollsX: false, scrollsY: false } : view;
}

function clipped(element: Element, style: CSSStyleDeclaration, around: Inside): Inside {
  // Nothing clips along one axis alone but by `clip`.
  const clips = style.overflowX !== 'visible' || style.overflowY === 'clip';
  if (!clips && around.placed === around.region) return around;
  // What the page's root and body say holds for the viewport.
  const own =
    clips && style.display !== 'inline' && style.display !== 'contents' && !/^(html|body)$/.test(element.localName);
  const region = own ? clippedRegion(element, style, around.region) : around.region;
  const holdsPlaced = style.position !== 'static' || style.transform !== 'none';
  if (region === around.region && !holdsPlaced) return around;
  return { ...around, region, placed: holdsPlaced ? region : around.placed };
}

/** The region inside an element that clips. */
function clippedRegion(element: Element, style: CSSStyleDeclaration, outer: Region): Region {
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

function pageScrolling(root: Element): { readonly scrollsX: boolean; readonly scrollsY: boolean } {
  const own = getComputedStyle(root);
  const body = root.ownerDocument.body;
  // What body says holds for the page where html says nothing (https://drafts.csswg.org/css-overflow-3/#overflow-propagation).
  const style = own.overflowX === 'visible' && own.overflowY === 'visible' && body ? getComputedStyle(body) : own;
  const moves = (overflow: string) => overflow !== 'hidden' && overflow !== 'clip';
  return { scrollsX: moves(style.overflowX), scrollsY: moves(style.overflowY) };
}

/** What of a frame's own viewport can be seen, in its coordinates. */
function seenInFrame(frame: Element, region: Region): Edges {
  const box = frame.getBoundingClientRect();
  const left = box.left + frame.clientLeft;
  const top = box.top + frame.clientTop;
  if (!isIn(box, region)) return { left: 0, top: 0, right: 0, bottom: 0 };
  return {
    left: Math.max(0, region.left - left),
    top: Math.max(0, region.top - top),
    right: Math.min(frame.clientWidth, region.right - left),
    bottom: Math.min(frame.clientHeight, region.bottom - top),
  };
}

export function isIn(rect: Rect, { left, top, right, bottom }: Region): boolean {
  return (
    Math.min(rect.right, right) - Math.max(rect.left, left) >= LEAST &&
    Math.min(rect.bottom, bottom) - Math.max(rect.top, top) >= LEAST
  );
}

/**
 * Whether a person can bring what is out of view into it: each box around it, from the inside out, shows it or scrolls to
 * it; then it is as if it stood in that box.
 */
export function isReachable({ left, top, right, bottom }: Edges, inside: Region): boolean {
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
