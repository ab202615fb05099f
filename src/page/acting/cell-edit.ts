import { nextChange } from '../changes.js';
import { foldSpace } from '../locator.js';
import { drawnText } from '../names/accessible-name.js';
import { inputKind, isReadOnly, roleOf } from '../names/roles.js';
import { isProblem, type PageProblem, type TypedOutcome } from '../page-calls.js';
import { isInside, shadowOf } from '../tree/flat-tree.js';
import { elementAt, viewportRect } from '../tree/geometry.js';
import type { Point } from '../tree/point.js';
import { fieldValue, selectContent, setValue } from './field.js';
import { blocked, reachablePoint } from './reach.js';
import { holdsText } from './same-text.js';

export const CELL = 'td, [role="gridcell"], [role="cell"]';
const NOWHERE: Point = { x: 0, y: 0 };
/** A double click on a cell that can be edited has opened its field by then, in milliseconds. */
const OPENED_MS = 1_000;
/** A cell shows what was typed by then. */
const SHOWN_MS = 1_000;

/** The next input of an edit: the double click that opens the field, or the text and the key that ends it. */
export interface CellStep {
  readonly element: Element;
  readonly point: Point;
  readonly opens: boolean;
  /** The text is in the field already, and only the key is wanted. */
  readonly isSet: boolean;
}

/** Writes into a cell of a grid that becomes a field when it is double-clicked. */
export class CellEdit {
  #cell: Element | null = null;
  /** From the corner of the page, which may scroll meanwhile. */
  #middle: Point = { x: 0, y: 0 };
  #openedAt = 0;

  /** Whether a cell is being edited: `finish` compares it, not the field, with what was typed. */
  get isOpen(): boolean {
    return this.#cell !== null;
  }

  stop(): void {
    this.#cell = null;
  }

  /** The step that opens a cell's field. */
  open(cell: Element): CellStep | PageProblem {
    const point = reachablePoint(cell, cell, null);
    if (isProblem(point)) return point;
    this.#cell = cell;
    this.#openedAt = performance.now();
    return { element: cell, point, opens: true, isSet: false };
  }

  /** The step that writes into the field, which has the focus. */
  write(text: string): CellStep | PageProblem {
    const field = this.#field();
    if (field === null) {
      const isLate = performance.now() - this.#openedAt > OPENED_MS;
      return blocked('does not accept text: no field opens in it when it is double-clicked', isLate);
    }
    const { x, y, width, height } = viewportRect(this.#cell?.isConnected ? this.#cell : field);
    this.#middle = { x: x + width / 2 + scrollX, y: y + height / 2 + scrollY };
    const step = { element: field, point: NOWHERE, opens: false };
    if (inputKind(field) === 'set') {
      const refusal = setValue(field, text);
      return refusal === null ? { ...step, isSet: true } : blocked(refusal, true);
    }
    selectContent(field);
    return { ...step, isSet: false };
  }

  /** Whether the cell shows what was typed, once the page has drawn it. */
  async outcome(typed: string): Promise<TypedOutcome> {
    const deadline = performance.now() + SHOWN_MS;
    for (;;) {
      const shown = this.#shown();
      const left = deadline - performance.now();
      if (shown === null && left <= 0) return { kind: 'gone', shown: '' };
      const same = shown !== null && (typed === '' ? shown === '' : holdsText(typed, shown));
      if (same || left <= 0) return { kind: same ? 'same' : 'other', shown: shown ?? '' };
      await nextChange(Math.min(left, 50), 0);
    }
  }

  /** In the cell or over it: some grids have one field for all of their cells. */
  #field(): Element | null {
    const cell = this.#cell;
    if (cell === null) return null;
    let active = cell.ownerDocument.activeElement;
    for (let inner = active; inner !== null; inner = shadowOf(inner)?.activeElement ?? null) active = inner;
    if (active === null || inputKind(active) === 'none' || isReadOnly(active)) return null;
    return isInside(active, cell) || !cell.isConnected || overlaps(active, cell) ? active : null;
  }

  /** Null: no cell is there any more. */
  #shown(): string | null {
    const { x, y } = this.#middle;
    const there = elementAt({ x: x - scrollX, y: y - scrollY })?.closest(CELL) ?? null;
    const cell = this.#cell?.isConnected ? this.#cell : there;
    if (cell === null) return null;
    const field = this.#field();
    return foldSpace(field === null ? drawnText(cell) : String(fieldValue(field)));
  }
}

/** Whether an element may become a field that is not there yet. */
export function isCell(element: Element): boolean {
  return inputKind(element) === 'none' && (element.localName === 'td' || /^(gridcell|cell)$/.test(roleOf(element)));
}

/** Whether two elements are drawn over one another. */
export function overlaps(one: Element, other: Element): boolean {
  const [left, right] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
  const across = Math.min(left.right, right.right) - Math.max(left.left, right.left);
  const down = Math.min(left.bottom, right.bottom) - Math.max(left.top, right.top);
  return across > 0 && down > 0;
}
