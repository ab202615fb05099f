import { foldSpace } from '../locator.js';
import type { Control } from './control.js';

/** A longer text is a part of the page, not a row. */
const MAX_TEXT = 1_000;

/** The row that a control stands in, and what it read when it was shown; null: whatever it reads is right. */
interface Row {
  readonly element: Element;
  text: string | null;
}

/**
 * What the rows read that tell controls of one name apart. A list that shows a part of its data at a time gives the same
 * elements to other rows when it is scrolled: then a number means nothing any more. A row that is acted on may change by
 * that, until the next look.
 */
export class RowTexts {
  #rows = new WeakMap<Element, Row>();

  /** Takes in what the rows of the numbered controls read now. */
  read(controls: readonly Control[], locators: readonly string[]): void {
    this.#rows = new WeakMap();
    const before = new Map<string, Element>();
    for (const [at, { element }] of controls.entries()) {
      const name = unnumbered(locators[at] ?? '');
      if (name === null) continue;
      const earlier = before.get(name);
      before.set(name, element);
      if (earlier !== undefined) this.#tellApart(earlier, element);
    }
  }

  /** An action begins on an element. */
  acting(element: Element): void {
    const row = this.#rows.get(element);
    if (row !== undefined) row.text = null;
  }

  /** What the row of a control reads, where that is not what it read; else null. */
  changed(element: Element): string | null {
    const row = this.#rows.get(element);
    if (row === undefined || row.text === null) return null;
    const now = row.element.textContent ?? '';
    if (now === row.text || now.length > MAX_TEXT || row.text.length > MAX_TEXT) return null;
    // People write in it.
    if (row.element.querySelector('[contenteditable]') !== null) return null;
    const text = foldSpace(now);
    return text === foldSpace(row.text) ? null : text;
  }

  #tellApart(left: Element, right: Element): void {
    const pair = rowsOf(left, right);
    if (pair === null) return;
    for (const [element, row] of [
      [left, pair.left],
      [right, pair.right],
    ] as const) {
      const known = this.#rows.get(element);
      // Of the rows towards either neighbour, the inner one.
      if (known !== undefined && row.contains(known.element)) continue;
      this.#rows.set(element, { element: row, text: row.textContent });
    }
  }
}

/** A locator without its number; null where it has none. */
function unnumbered(locator: string): string | null {
  const colon = locator.indexOf(':');
  const end = locator.indexOf('}');
  return colon === -1 || colon > end ? null : locator.slice(0, colon) + locator.slice(end);
}

/** What two controls stand in, one beside the other; null where the two are no rows of one list. */
function rowsOf(left: Element, right: Element): { readonly left: Element; readonly right: Element } | null {
  let row = left;
  let around = left.parentElement;
  while (around !== null && !around.contains(right)) {
    row = around;
    around = around.parentElement;
  }
  if (around === null) return null;
  let other = right;
  while (other.parentElement !== around) {
    // It stands in a shadow root of its own.
    if (other.parentElement === null) return null;
    other = other.parentElement;
  }
  return row.localName === other.localName ? { left: row, right: other } : null;
}
