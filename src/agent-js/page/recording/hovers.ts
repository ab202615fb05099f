import { reveals } from '../controls/hover-rules.js';
import { reactionsOf } from '../controls/reactions.js';
import { HOVER } from '../event-kinds.js';
import { isElement, isInside, parentOf } from '../tree/flat-tree.js';
import { innermost } from '../tree/innermost.js';
import { type Target, targetToHover } from './target.js';
import type { Teller } from './teller.js';

/** Of a longer way through menus the beginning is forgotten. */
const MAX_HOVERED = 10;

/** What shows more while the pointer is above it: a menu is opened so before something in it is pressed. */
export class Hovers {
  readonly #teller: Teller;
  #hovered: Target[] = [];

  constructor(teller: Teller) {
    this.#teller = teller;
  }

  over(event: MouseEvent): void {
    if (event.buttons !== 0) return;
    const hit = innermost(event);
    if (!isElement(hit)) return;
    const outer: Element[] = [];
    for (let node: Element | null = hit; node !== null; node = parentOf(node)) if (opens(node)) outer.unshift(node);
    for (const element of outer) {
      if (this.#hovered.some((one) => one.element === element)) continue;
      this.#hovered.push(targetToHover(element));
      if (this.#hovered.length > MAX_HOVERED) this.#hovered.shift();
    }
  }

  /** An element is about to be acted on: tells of what was opened on the way to it. */
  before(element: Element): void {
    for (const { element: opener, recorded } of this.#hovered.splice(0)) {
      if (opener === element || !opener.isConnected || isInside(opener, element)) continue;
      if (opener.parentElement === null || !isInside(element, opener.parentElement)) continue;
      this.#teller.act(opener, recorded, { action: 'hover' });
    }
  }
}

function opens(element: Element): boolean {
  return reveals(element) || (reactionsOf(element) & HOVER) !== 0;
}
