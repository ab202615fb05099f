import { isField } from '../names/roles.js';
import { frameDocument, isFrame, onlyText } from '../tree/flat-tree.js';
import { type Hit, isIn, type Region, Sight, type Sighted } from '../tree/sight.js';
import { drawnRect, isSeen, isSolid, type Rect, rectOf } from '../tree/visibility.js';
import { discoveries } from './discoveries.js';

/** How something was drawn. */
interface Drawn {
  readonly solid: boolean;
  readonly seen: boolean;
  readonly rect: Rect | null;
}

/** Where something was, and how it was drawn. */
interface Sighting {
  readonly element: Element;
  /** What was looked at in the element's place: itself, its label, its picture. */
  readonly shown: Element;
  readonly solid: boolean;
  readonly seen: boolean;
  readonly rect: Rect | null;
  readonly region: Region;
  /** Null: it was not asked for. */
  readonly sighted: Sighted | null;
  readonly inView: boolean;
  /** A hit of the very thing that was looked for: it is seen, and in view, as long as it is hit there. */
  readonly direct: Hit | null;
  /**
   * A field, or text alone: its size tells nothing besides. No part of its text comes and goes with it, and it veils nothing.
   * Null until somebody asks: no node has changed by then.
   */
  plain: boolean | null;
}

/**
 * What a list of controls rests on that no observer tells of: styles, layout, scrolling, what lies over what. As long as
 * all of it is as it was, and no observer has told of anything, the list is what it was.
 */
export class Evidence {
  readonly #sightings: Sighting[] = [];
  readonly #hidden: Element[] = [];
  readonly #boxes: { readonly element: Element; readonly rect: Rect }[] = [];
  /** Documents in which something was hit: as long as it is, there is room in their frames. */
  readonly #seenInto = new Set<Document>();
  readonly #frames: {
    readonly element: Element;
    readonly is: boolean;
    readonly inner: Document | null;
    readonly empty: boolean;
  }[] = [];

  /**
   * An element was looked for, and not drawn or found at a place.
   *
   * @param shown what was looked at in the element's place: itself, its label, its picture
   * @param sighted null: it was not asked for
   */
  sighting(element: Element, shown: Element, drawn: Drawn, region: Region, sighted: Sighted | null): void {
    const { solid, seen, rect } = drawn;
    const inView = rect !== null && sighted !== null && isIn(rect, region);
    const hit = sighted === null ? null : sighted.hit;
    // A part of a picture has no box of its own.
    const direct = hit !== null && hit.element === shown && shown.localName !== 'area' ? hit : null;
    if (direct !== null) this.#seenInto.add(shown.ownerDocument);
    this.#sightings.push({ element, shown, solid, seen, rect, region, sighted, inView, direct, plain: null });
  }

  /** An element is not drawn, by a style of its own or of what is around it. */
  hidden(element: Element): void {
    this.#hidden.push(element);
  }

  /** An element clips what is in it. */
  clips(element: Element): void {
    this.#boxes.push({ element, rect: rectOf(element) });
  }

  /** An element is a frame, or may become one. */
  frame(element: Element): void {
    this.#frames.push({ element, is: isFrame(element), inner: frameDocument(element), empty: isEmpty(element) });
  }

  /** Has the pages of the frames tell what they have to: {@link holds} does not know of it. */
  ask(mutations: number): void {
    for (const { inner } of this.#frames)
      if (inner?.defaultView != null) discoveries()?.ask(inner.defaultView, mutations);
  }

  /**
   * @param sight the one by which the list was made: what veils the page is in it
   * @param matters of which elements it is to be asked whether something lies over them
   */
  holds(sight: Sight, matters: (element: Element) => boolean): boolean {
    return (
      this.#hidden.every((element) => !element.checkVisibility()) &&
      this.#frames.every(({ element, is, inner, empty }) => {
        const hasRoom = inner !== null && this.#seenInto.has(inner);
        return isFrame(element) === is && frameDocument(element) === inner && (hasRoom || isEmpty(element) === empty);
      }) &&
      this.#boxes.every(({ element, rect }) => isSame(element.getBoundingClientRect(), rect)) &&
      sight.isAsBefore() &&
      this.#sightingsHold(matters)
    );
  }

  #sightingsHold(matters: (element: Element) => boolean): boolean {
    const sight = new Sight(false);
    for (const sighting of this.#sightings) {
      const { element, direct } = sighting;
      const asked = matters(element);
      if (asked && direct === null) {
        if (!sightingHolds(sighting, sight)) return false;
        continue;
      }
      // What nobody asks for has only to be called what it was.
      if ((asked && direct !== null && !isHit(direct)) || !hasItsName(sighting)) return false;
    }
    return true;
  }
}

/** Whether no part of its text may have come or gone. */
function hasItsName(sighting: Sighting): boolean {
  const { shown, rect } = sighting;
  sighting.plain ??= isField(shown) || onlyText(shown) !== null;
  if (sighting.plain || rect === null) return sighting.plain;
  const now = drawnRect(shown);
  return now !== null && isSame(now, rect);
}

function sightingHolds(sighting: Sighting, sight: Sight): boolean {
  const { element, shown, solid, seen, rect, region, sighted, inView } = sighting;
  if (isSolid(shown) !== solid || (!solid && isSeen(shown) !== seen)) return false;
  if (!seen) return true;
  const now = drawnRect(shown);
  if (now === null || rect === null) return now === rect;
  if (!isSame(now, rect)) return false;
  // What is out of view is where it was, since everything around it is.
  if (sighted === null || !inView) return true;
  const { hit, is } = sighted;
  // What is drawn there tells the same as before, since no node has changed.
  return (hit !== null && isHit(hit)) || sight.whereIs(element, shown, now, region).is === is;
}

function isHit({ root, x, y, element }: Hit): boolean {
  return root.elementFromPoint(x, y) === element;
}

function isSame(rect: Rect, { left, top, width, height }: Rect): boolean {
  return rect.left === left && rect.top === top && rect.width === width && rect.height === height;
}

function isEmpty(element: Element): boolean {
  return element.clientWidth === 0 || element.clientHeight === 0;
}
