import { discoveries } from './discoveries.js';
import { frameDocument } from './flat-tree.js';
import { type Hit, isIn, type Region, Sight, type Sighted } from './sight.js';
import { drawnRect, isSeen, isSolid } from './visibility.js';

/** Where something was, and how it was drawn. */
interface Sighting {
  readonly element: Element;
  /** What was looked at in the element's place: itself, its label, its picture. */
  readonly shown: Element;
  readonly rect: DOMRect | null;
  readonly solid: boolean;
  readonly seen: boolean;
  /** Null: it was not asked for. */
  readonly place: (Sighted & { readonly region: Region }) | null;
}

/** Plain numbers: those of a DOMRect are asked of the browser one by one. */
interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A sighting as it is compared. */
interface Kept extends Omit<Sighting, 'rect'> {
  readonly box: Box | null;
  readonly inView: boolean;
  /** The hit that told all there is to tell: of the very thing that was looked for, which is seen as long as it is hit. */
  readonly direct: Hit | null;
}

/**
 * What a list of controls rests on that no observer tells of: styles, layout, scrolling, what lies over what. As long as
 * all of it is as it was, and no observer has told of anything, the list is what it was.
 */
export class Evidence {
  readonly #sightings: Kept[] = [];
  readonly #hidden: Element[] = [];
  readonly #boxes: { readonly element: Element; readonly box: Box }[] = [];
  readonly #frames: { readonly element: Element; readonly inner: Document | null; readonly empty: boolean }[] = [];

  /** An element was looked for, and not drawn or found at a place. */
  sighting({ rect, ...sighting }: Sighting): void {
    const { place, shown } = sighting;
    const inView = rect !== null && place !== null && isIn(rect, place.region);
    // A part of a picture has no box of its own.
    const direct = place?.hit?.element === shown && shown.localName !== 'area' ? place.hit : null;
    this.#sightings.push({ ...sighting, box: rect && boxOf(rect), inView, direct });
  }

  /** An element is not drawn, by a style of its own or of what is around it. */
  hidden(element: Element): void {
    this.#hidden.push(element);
  }

  /** An element clips what is in it. */
  clips(element: Element): void {
    this.#boxes.push({ element, box: boxOf(element.getBoundingClientRect()) });
  }

  frame(element: Element): void {
    this.#frames.push({ element, inner: frameDocument(element), empty: isEmpty(element) });
  }

  /** Has the pages of the frames tell what they have to: {@link holds} does not know of it. */
  ask(): void {
    for (const { inner } of this.#frames) if (inner?.defaultView != null) discoveries()?.ask(inner.defaultView);
  }

  /**
   * @param sight the one by which the list was made: what veils the page is in it
   * @param matters of which elements it is to be asked whether something lies over them
   */
  holds(sight: Sight, matters: (element: Element) => boolean): boolean {
    return (
      this.#hidden.every((element) => !element.checkVisibility()) &&
      this.#frames.every(
        ({ element, inner, empty }) => frameDocument(element) === inner && isEmpty(element) === empty,
      ) &&
      this.#boxes.every(({ element, box }) => isSame(element.getBoundingClientRect(), box)) &&
      sight.isAsBefore() &&
      this.#sightingsHold(matters)
    );
  }

  #sightingsHold(matters: (element: Element) => boolean): boolean {
    const sight = new Sight(false);
    for (const { element, shown, box, solid, seen, place, inView, direct } of this.#sightings) {
      if (direct !== null && box !== null && matters(element) && isHit(direct)) {
        if (!isSame(shown.getBoundingClientRect(), box)) return false;
        continue;
      }
      if (isSolid(shown) !== solid || (!solid && isSeen(shown) !== seen)) return false;
      if (!seen) continue;
      const now = drawnRect(shown);
      if (now === null || box === null) {
        if (now !== box) return false;
        continue;
      }
      if (!isSame(now, box)) return false;
      // What is out of view is where it was, since everything around it is.
      if (place === null || !inView || !matters(element)) continue;
      const { hit, is, region } = place;
      // What is drawn there tells the same as before, since no node has changed.
      if (hit !== null && isHit(hit)) continue;
      if (sight.whereIs(element, shown, now, region).is !== is) return false;
    }
    return true;
  }
}

function isHit({ root, x, y, element }: Hit): boolean {
  return root.elementFromPoint(x, y) === element;
}

function boxOf({ x, y, width, height }: DOMRect): Box {
  return { x, y, width, height };
}

function isSame(rect: DOMRect, { x, y, width, height }: Box): boolean {
  return rect.x === x && rect.y === y && rect.width === width && rect.height === height;
}

function isEmpty(element: Element): boolean {
  return element.clientWidth === 0 || element.clientHeight === 0;
}
