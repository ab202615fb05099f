import type { PageLook } from '../page-calls.js';
import { isInside } from '../tree/flat-tree.js';
import { uniqueLocators } from '../unique-locators.js';
import type { WireDescriptor } from '../wire-descriptor.js';
import type { FrameGap } from './collector.js';
import type { Control } from './control.js';
import { collect } from './controls.js';
import { describe } from './descriptor.js';
import { discoveries } from './discoveries.js';
import { shownLooks } from './shown-looks.js';

/** A value that is JSON already. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The looks of one document: what it has told is not told again. */
export class LookMemory {
  /** Another document's looks have other numbers. */
  #id = Math.floor(Math.random() * 2 ** 40);
  /** What the last look showed, and what was told of it. */
  #elements: readonly Element[] = [];
  #reported: readonly string[] = [];

  /**
   * @param root what the look is narrowed to; such a look is not remembered
   * @param base the look that the asker has; the answer is made of its pieces where it is the last one
   * @param joined whether the asker joins the lists of several documents, and makes the locators
   */
  look(root: Element | undefined, base: number | null, joined: boolean): JsonText {
    const before = this.#reported;
    const known = root === undefined && base === this.#id ? before : null;
    const { controls, gaps } = collect();
    const locators = uniqueLocators(controls);
    const listed = controls.flatMap((control, index) =>
      control.whereabouts === 'unreachable' ? [] : [{ control, locator: locators[index] ?? '' }],
    );
    const reported = listed.map(({ control, locator }) => textOf(describe(control, locator)));
    const isSame = reported.length === before.length && reported.every((text, index) => text === before[index]);
    // A page that has drawn controls anew may read the same, and its numbers mean other elements.
    const isReplaced = listed.some(({ control }, index) => control.element !== this.#elements[index]);
    if (!isSame || isReplaced) this.#id++;
    this.#reported = isSame ? before : reported;
    this.#elements = listed.map(({ control }) => control.element);
    shownLooks.remember(
      this.#id,
      listed.map(({ control }) => control),
      listed.map(({ locator }) => locator),
    );
    const isWithin = ({ element }: { readonly element: Element }): boolean =>
      root === undefined || isInside(element, root);
    const state: Omit<PageLook, 'pieces'> = {
      url: location.href,
      title: document.title,
      id: this.#id,
      base: known === null ? null : base,
      ...(joined ? { joint: jointOf(controls, gaps, isWithin) } : {}),
    };
    const told = joined ? controls.map((control, index) => textOf(describe(control, locators[index] ?? ''))) : reported;
    const shown = told.filter((_, index) => isWithin((joined ? controls[index] : listed[index]?.control) as Control));
    const pieces = known === null ? shown : piecesOf(this.#reported, known);
    return new JsonText(`${JSON.stringify(state).slice(0, -1)},"pieces":[${pieces.join(',')}]}`);
  }
}

/** What joins the list of this document with those of the frames in it. */
function jointOf(
  controls: readonly Control[],
  gaps: readonly FrameGap[],
  isWithin: (one: { readonly element: Element }) => boolean,
): NonNullable<PageLook['joint']> {
  const within = controls.filter(isWithin);
  return {
    names: within.map(({ name, words }) => [name, ...words] as const),
    covered: within.flatMap(({ whereabouts }, index) => (whereabouts === 'unreachable' ? [index] : [])),
    gaps: gaps
      .filter(({ frame }) => isWithin({ element: frame }))
      .map(({ at, frame, whereabouts }) => ({
        at: controls.slice(0, at).filter(isWithin).length,
        frame: discoveries()?.frameId(frame) ?? null,
        is: whereabouts(),
      })),
  };
}

/** Letters that JSON takes as they are. */
const PLAIN = /^[ !#-[\]-~\u00a0-\u024f]*$/;

/** JSON. Most texts need no escapes, and there are many. */
function textOf([locator, actions, more]: WireDescriptor): string {
  const quoted = PLAIN.test(locator) ? `"${locator}"` : JSON.stringify(locator);
  return more === undefined ? `[${quoted},${actions}]` : `[${quoted},${actions},${JSON.stringify(more)}]`;
}

/** A list as pieces of an earlier one, and what is new. */
function piecesOf(after: readonly string[], before: readonly string[]): string[] {
  if (after === before) return before.length === 0 ? [] : [`[0,${before.length}]`];
  const pieces: string[] = [];
  let places: Map<string, number> | undefined;
  let from = 0;
  let count = 0;
  const close = (): void => {
    if (count > 0) pieces.push(`[${from},${count}]`);
    from += count;
    count = 0;
  };
  for (const text of after) {
    if (before[from + count] === text) {
      count++;
      continue;
    }
    close();
    places ??= new Map(before.map((earlier, index) => [earlier, index]));
    const place = places.get(text);
    if (place === undefined) {
      pieces.push(text);
      // What is new most often stands in the place of what it was, or before it.
      if (before[from] !== undefined) from++;
    } else {
      from = place;
      count = 1;
    }
  }
  close();
  return pieces;
}
