import type { WireDescriptor } from '../../acting/wire-descriptor.js';
import { uniqueLocators } from '../../locating/unique-locators.js';
import type { PageLook } from '../../tabs/page-calls.js';
import { nameMemory } from '../names/name-memory.js';
import { isInside } from '../tree/flat-tree.js';
import type { Collected } from './collector.js';
import type { Control } from './control.js';
import { collect } from './controls.js';
import { describe, type ReadState, readerOf } from './descriptor.js';
import { discoveries } from './discoveries.js';
import { shownLooks } from './shown-looks.js';

/** A value that is JSON already. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A control as it was reported. */
interface Reported {
  readonly locator: string;
  readonly offscreen: boolean;
  /** Of a field: what changes without a sign. */
  readonly read: ReadState | null;
  readonly state: ReturnType<ReadState> | null;
  /** JSON. */
  readonly text: string;
}

/** The looks of one document: what it has told is not told again. */
export class LookMemory {
  /** Another document's looks have other numbers. */
  #id = Math.floor(Math.random() * 2 ** 40);
  #changes = -1;
  #byElement = new WeakMap<Element, Reported>();
  /** The last list, its locators, and what was reported with it. */
  #collected: Collected | null = null;
  #locators: readonly string[] = [];
  #reported: readonly string[] = [];
  /** The page has drawn controls anew since the look before; its numbers mean other elements, even where it reads the same. */
  #replaced = false;
  /** What in it may change without a sign, and its place. */
  #fields: readonly { readonly index: number; readonly read: ReadState; state: ReturnType<ReadState> }[] = [];

  /**
   * @param root what the look is narrowed to; such a look is not remembered
   * @param base the look that the asker has; the answer is made of its pieces where it is the last one
   * @param named whether the asker makes the locators
   */
  look(root: Element | undefined, base: number | null, named: boolean): JsonText {
    const before = this.#reported;
    const reported = this.#report(collect());
    const { controls, gaps } = this.#collected ?? NOTHING;
    const inside = ({ element }: { readonly element: Element }): boolean =>
      root === undefined || isInside(element, root);
    const shown =
      root === undefined ? reported : reported.filter((_, index) => inside(controls[index] ?? { element: root }));
    const known = root === undefined && base === this.#id ? before : null;
    const pieces = known === null ? shown : piecesOf(shown, known);
    if (reported !== before || this.#replaced) this.#id++;
    shownLooks.remember(this.#id, controls, this.#locators);
    const state: Omit<PageLook, 'pieces'> = {
      url: location.href,
      title: document.title,
      id: this.#id,
      base: known === null ? null : base,
      gaps: gaps
        .filter(({ frame }) => inside({ element: frame }))
        .map(({ at, frame, offscreen }) => ({
          at: Math.min(at, shown.length),
          frame: discoveries()?.frameId(frame) ?? null,
          offscreen,
        })),
      ...(named ? { names: controls.filter(inside).map(({ name, words }) => [name, ...words] as const) } : {}),
    };
    return new JsonText(`${JSON.stringify(state).slice(0, -1)},"pieces":[${pieces.join(',')}]}`);
  }

  /** What is to be told of each control. The array of the last time, where it is the same. */
  #report(collected: Collected): readonly string[] {
    const { controls } = collected;
    this.#replaced = false;
    if (collected === this.#collected) return this.#reportAgain(controls);
    const earlier = this.#collected?.controls ?? [];
    this.#replaced = controls.some(({ element }, index) => element !== earlier[index]?.element);
    const { changes } = nameMemory();
    if (changes !== this.#changes) this.#byElement = new WeakMap();
    this.#changes = changes;
    this.#locators = this.#locatorsOf(controls);
    this.#collected = collected;
    const reported = controls.map((control, index) => this.#reportOf(control, this.#locators[index] ?? ''));
    this.#fields = reported.flatMap(({ read, state }, index) => (read && state !== null ? { index, read, state } : []));
    const texts = reported.map(({ text }) => text);
    if (texts.length !== this.#reported.length || texts.some((text, index) => text !== this.#reported[index])) {
      this.#reported = texts;
    }
    return this.#reported;
  }

  /** The same list: only what stands in its fields may be other. */
  #reportAgain(controls: readonly Control[]): readonly string[] {
    let reported: string[] | null = null;
    for (const field of this.#fields) {
      const state = field.read();
      if (state === field.state) continue;
      field.state = state;
      const control = controls[field.index];
      if (control === undefined) continue;
      const { text } = this.#reportOf(control, this.#locators[field.index] ?? '');
      if (text === this.#reported[field.index]) continue;
      reported ??= [...this.#reported];
      reported[field.index] = text;
    }
    if (reported !== null) this.#reported = reported;
    return this.#reported;
  }

  /** The same controls under the same names have the locators that they had. */
  #locatorsOf(controls: readonly Control[]): readonly string[] {
    const known = this.#collected?.controls ?? [];
    const same = ({ element, name, role }: Control, index: number): boolean => {
      const earlier = known[index];
      return earlier?.element === element && earlier.name === name && earlier.role === role;
    };
    return known.length === controls.length && controls.every(same) ? this.#locators : uniqueLocators(controls);
  }

  /** What a field holds changes without a sign; the rest is as it was while the document is. */
  #reportOf(control: Control, locator: string): Reported {
    const { element, offscreen } = control;
    const known = this.#byElement.get(element);
    const read = known === undefined ? readerOf(element) : known.read;
    const state = read === null ? null : read();
    if (known?.locator === locator && known.offscreen === offscreen && known.state === state) return known;
    const reported: Reported = { locator, offscreen, read, state, text: textOf(describe(control, locator)) };
    this.#byElement.set(element, reported);
    return reported;
  }
}

const NOTHING: Collected = { controls: [], gaps: [] };

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
