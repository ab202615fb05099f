import { foldSpace, parseLocator } from '../../locating/locator.js';
import { nameMemory } from '../names/name-memory.js';
import { isInside, parentOf } from '../tree/flat-tree.js';
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
  #changes = -1;
  #controls: readonly Control[] = [];

  /** Takes in what the rows of the numbered controls read now. */
  read(controls: readonly Control[], locators: readonly string[]): void {
    const { changes } = nameMemory();
    if (changes === this.#changes && controls === this.#controls) return;
    this.#changes = changes;
    this.#controls = controls;
    this.#rows = new WeakMap();
    const before = new Map<string, Element>();
    for (const [at, { element, role, name }] of controls.entries()) {
      const locator = parseLocator(locators[at] ?? '');
      if (locator?.kind !== 'text' || locator.index === undefined) continue;
      const earlier = before.get(`${role} ${name}`);
      before.set(`${role} ${name}`, element);
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
    const now = textOf(row.element);
    return now === row.text ? null : (now ?? '');
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
      if (known !== undefined && isInside(known.element, row)) continue;
      this.#rows.set(element, { element: row, text: textOf(row) });
    }
  }
}

/** What two controls stand in, one beside the other; null where the two are no rows of one list. */
function rowsOf(left: Element, right: Element): { readonly left: Element; readonly right: Element } | null {
  let around: Element | null = parentOf(left);
  let row = left;
  while (around !== null && !isInside(right, around)) {
    row = around;
    around = parentOf(around);
  }
  let other = right;
  for (let node = parentOf(right); node !== null && node !== around; node = parentOf(node)) other = node;
  return around !== null && row.localName === other.localName ? { left: row, right: other } : null;
}

/** Null for one that is too long, or that people write in. */
function textOf(row: Element): string | null {
  const text = row.textContent ?? '';
  if (text.length > MAX_TEXT || row.querySelector('[contenteditable]') !== null) return null;
  return foldSpace(text);
}
