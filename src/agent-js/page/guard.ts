import { isElement } from './flat-tree.js';
import { reaches } from './geometry.js';

const EVENTS = [
  'pointerdown',
  'mousedown',
  'pointerup',
  'mouseup',
  'click',
  'auxclick',
  'dblclick',
  'contextmenu',
] as const;

/**
 * Watches over one input on its way: between the check that an element lies under a point and the arrival of the click
 * there, the page may change. The first press that would land elsewhere is held back, with all that follows it, so that
 * nothing is ever clicked by mistake. The listeners stand on the window before any script of the page does.
 */
export class Guard {
  #target: Element | null = null;
  #armed = false;
  #missed: Element | null = null;

  constructor() {
    for (const type of EVENTS) addEventListener(type, (event) => this.#check(event), { capture: true });
  }

  /** @param target where the input must land; null: nowhere in this frame */
  arm(target: Element | null): void {
    this.#target = target;
    this.#armed = true;
    this.#missed = null;
  }

  /** Ends the watch and answers what was hit in the target's place, if anything was. */
  disarm(): Element | null {
    const missed = this.#missed;
    this.#armed = false;
    this.#target = null;
    this.#missed = null;
    return missed;
  }

  #check(event: Event): void {
    if (!this.#armed || !event.isTrusted) return;
    if (this.#missed === null) {
      if (event.type !== 'pointerdown' && event.type !== 'mousedown') return;
      const [hit] = event.composedPath();
      const node = hit as Node | undefined;
      if (!isElement(node)) return;
      if (this.#target !== null && reaches(node, this.#target)) return;
      this.#missed = node;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}
