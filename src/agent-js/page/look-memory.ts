import type { PageLook } from '../page-calls.js';
import { uniqueLocators } from '../unique-locators.js';
import { type Control, collect } from './controls.js';
import { describe } from './descriptor.js';
import { discoveries } from './discoveries.js';
import { isInside } from './flat-tree.js';
import { NameMemory } from './name-memory.js';

/** A value that is JSON already. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The looks of one document: what it has told is not told again. */
export class LookMemory {
  readonly #names = new NameMemory();
  /** Another document's looks have other numbers. */
  #id = Math.floor(Math.random() * 2 ** 40);
  #changes = -1;
  #texts = new WeakMap<Element, { readonly locator: string; readonly offscreen: boolean; readonly text: string }>();
  /** The controls of the last look, and their locators. */
  #named: readonly Control[] = [];
  #locators: readonly string[] = [];
  /** The descriptors of the last look, as JSON. */
  #told: readonly string[] = [];

  /**
   * @param root what the look is narrowed to; such a look is not remembered
   * @param base the look that the asker has; the answer is made of its pieces where it is the last one
   * @param named whether the asker makes the locators
   */
  look(root: Element | undefined, base: number | null, named: boolean): JsonText {
    const { controls, gaps } = collect('*', this.#names);
    if (this.#changes !== this.#names.changes) this.#texts = new WeakMap();
    this.#changes = this.#names.changes;
    const locators = this.#locatorsOf(controls);
    const shown: string[] = [];
    const names: string[][] = [];
    controls.forEach((control, index) => {
      if (root !== undefined && !isInside(control.element, root)) return;
      shown.push(this.#textOf(control, locators[index] ?? ''));
      if (named) names.push([control.name, ...control.words]);
    });
    const known = root === undefined && base === this.#id ? this.#told : null;
    const pieces = known === null ? shown : piecesOf(shown, known);
    if (root === undefined && !isWhole(pieces, this.#told.length)) this.#id++;
    if (root === undefined) this.#told = shown;
    const inside = root === undefined ? gaps : gaps.filter(({ frame }) => isInside(frame, root));
    const state: Omit<PageLook, 'pieces'> = {
      url: location.href,
      title: document.title,
      id: this.#id,
      base: known === null ? null : base,
      gaps: inside.map(({ at, frame, offscreen }) => ({
        at: Math.min(at, shown.length),
        frame: discoveries()?.frameId(frame) ?? null,
        offscreen,
      })),
      ...(named ? { names: names.map(([name = '', ...words]) => [name, ...words] as const) } : {}),
    };
    return new JsonText(`${JSON.stringify(state).slice(0, -1)},"pieces":[${pieces.join(',')}]}`);
  }

  /** The same controls under the same names have the locators that they had. */
  #locatorsOf(controls: readonly Control[]): readonly string[] {
    const known = this.#named;
    const same = ({ element, name, role }: Control, index: number): boolean => {
      const earlier = known[index];
      return earlier?.element === element && earlier.name === name && earlier.role === role;
    };
    if (known.length !== controls.length || !controls.every(same)) {
      this.#locators = uniqueLocators(controls);
    }
    this.#named = controls;
    return this.#locators;
  }

  /** What a field holds changes without a sign; the rest is as it was while the document is. */
  #textOf(control: Control, locator: string): string {
    const { element, offscreen } = control;
    const known = this.#texts.get(element);
    if (known !== undefined && known.locator === locator && known.offscreen === offscreen) return known.text;
    const text = JSON.stringify(describe(control, locator));
    if (!/^(input|select|textarea)$/.test(element.localName)) this.#texts.set(element, { locator, offscreen, text });
    return text;
  }
}

/** A list as pieces of an earlier one, and what is new. */
function piecesOf(after: readonly string[], before: readonly string[]): string[] {
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

/** Whether the pieces are the whole earlier list as it was. */
function isWhole(pieces: readonly string[], length: number): boolean {
  return length === 0 ? pieces.length === 0 : pieces.length === 1 && pieces[0] === `[0,${length}]`;
}
