import { type DropPlace, dropPlace } from '../views/tree/drop-place.js';
import type { TreeRow } from './tree-rows.js';

/** How far the pointer moves before a press becomes a drag. */
const DRAG_PX = 5;

/** A dragged line of the tree. */
export class TreeDrag {
  #pressed = $state.raw<{ readonly row: TreeRow; readonly y: number } | null>(null);
  moving = $state(false);
  place = $state.raw<DropPlace | null>(null);
  readonly #rowPx: number;

  constructor(rowPx: number) {
    this.#rowPx = rowPx;
  }

  press(row: TreeRow, y: number): void {
    this.#pressed = { row, y };
  }

  /** The pointer moved over the tree with these lines; near its edges, the tree scrolls. */
  move(y: number, list: HTMLElement, rows: readonly TreeRow[]): void {
    const pressed = this.#pressed;
    if (pressed === null || (!this.moving && Math.abs(y - pressed.y) <= DRAG_PX)) return;
    this.moving = true;
    const box = list.getBoundingClientRect();
    if (y < box.top + this.#rowPx) list.scrollTop -= this.#rowPx / 2;
    else if (y > box.bottom - this.#rowPx) list.scrollTop += this.#rowPx / 2;
    this.place = dropPlace(rows, (y - box.top + list.scrollTop) / this.#rowPx, pressed.row.item.id);
  }

  /** @returns the dragged item and its new place; null if nothing was dragged */
  drop(): { readonly id: string; readonly place: DropPlace | null } | null {
    const dropped = this.moving && this.#pressed !== null ? { id: this.#pressed.row.item.id, place: this.place } : null;
    this.cancel();
    return dropped;
  }

  cancel(): void {
    this.#pressed = null;
    this.moving = false;
    this.place = null;
  }
}
