import { discoveries } from './discoveries.js';
import { frameDocument } from './flat-tree.js';
import { isIn, type Region, Sight, type Whereabouts } from './sight.js';
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
  readonly place: { readonly region: Region; readonly is: Whereabouts } | null;
}

/**
 * What a list of controls rests on that no observer tells of: styles, layout, scrolling, what lies over what. As long as
 * all of it is as it was, and no observer has told of anything, the list is what it was.
 */
export class Evidence {
  readonly #sightings: Sighting[] = [];
  readonly #hidden: Element[] = [];
  readonly #boxes: { readonly element: Element; readonly rect: DOMRect }[] = [];
  readonly #frames: { readonly element: Element; readonly inner: Document | null; readonly empty: boolean }[] = [];

  /** An element was looked for, and not drawn or found at a place. */
  sighting(sighting: Sighting): void {
    this.#sightings.push(sighting);
  }

  /** An element is not drawn, by a style of its own or of what is around it. */
  hidden(element: Element): void {
    this.#hidden.push(element);
  }

  /** An element clips what is in it. */
  clips(element: Element): void {
    this.#boxes.push({ element, rect: element.getBoundingClientRect() });
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
      this.#boxes.every(({ element, rect }) => isSame(element.getBoundingClientRect(), rect)) &&
      sight.isAsBefore() &&
      this.#sightingsHold(matters)
    );
  }

  #sightingsHold(matters: (element: Element) => boolean): boolean {
    const sight = new Sight(false);
    return this.#sightings.every(({ element, shown, rect, solid, seen, place }) => {
      if (isSolid(shown) !== solid || (!solid && isSeen(shown) !== seen)) return false;
      if (!seen) return true;
      const now = drawnRect(shown);
      if (now === null || rect === null) return now === rect;
      if (!isSame(now, rect)) return false;
      // What is out of view is where it was, since everything around it is.
      if (place === null || !isIn(rect, place.region) || !matters(element)) return true;
      return sight.whereIs(element, shown, rect, place.region) === place.is;
    });
  }
}

function isSame(one: DOMRect, other: DOMRect): boolean {
  return one.x === other.x && one.y === other.y && one.width === other.width && one.height === other.height;
}

function isEmpty(element: Element): boolean {
  return element.clientWidth === 0 || element.clientHeight === 0;
}
