import { formatLocator, parseLocator } from '../../page/locator.js';
import type { ElementDescriptor } from '../../protocol/look.js';

/** Where the element is that a look showed. */
export interface ShownPlace {
  /** The frame of another origin that holds it; null: the page's own document, or one that it reaches. */
  readonly frame: string | null;
  /** What it is called there. */
  readonly locator: string;
  /** The look of that document. */
  readonly look: number;
}

/** Who makes a call. What a look or an error has shown to one says nothing to another. */
export interface Asker {
  /** The run of a flow; null: a script that is in none. */
  readonly flowRun: number | null;
  /** What the look that it was shown numbered; null: its numbers count. */
  readonly numbers: ShownNumbers | null;
}

/** What the numbers in the locators of a look mean: `{button:2}Save` is the element that it was printed for. */
export class ShownNumbers {
  readonly #elements: readonly ElementDescriptor[];
  readonly #placeOf: (index: number) => ShownPlace | null;
  readonly #around: ShownNumbers | null;
  #byLocator: ReadonlyMap<string, number> | null = null;

  /**
   * @param placeOf where the element with an index stands
   * @param around the look before, where this one showed a part of the same page
   */
  constructor(
    elements: readonly ElementDescriptor[],
    placeOf: (index: number) => ShownPlace | null,
    around: ShownNumbers | null,
  ) {
    this.#elements = elements;
    this.#placeOf = placeOf;
    this.#around = around;
  }

  /** Every element of the look, with where it stands. */
  get all(): readonly { readonly locator: string; readonly place: ShownPlace }[] {
    return this.#elements.flatMap(({ locator }, index) => {
      const place = this.#placeOf(index);
      return place === null ? [] : [{ locator, place }];
    });
  }

  /** Null for a locator without a number, and one that was not shown. */
  find(source: string): ShownPlace | null {
    const locator = parseLocator(source);
    if (locator?.kind !== 'text' || locator.index === undefined) return null;
    return this.#find(formatLocator(locator));
  }

  #find(locator: string): ShownPlace | null {
    this.#byLocator ??= new Map(this.#elements.map((element, index) => [element.locator, index]));
    const index = this.#byLocator.get(locator);
    if (index !== undefined) return this.#placeOf(index);
    return this.#around === null ? null : this.#around.#find(locator);
  }
}
