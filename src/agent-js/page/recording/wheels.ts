import { isElement } from '../tree/flat-tree.js';
import { innermost } from '../tree/innermost.js';
import { scrollerOf } from '../tree/scrolling.js';
import { type Target, targetAt, targetOf } from './target.js';
import type { Teller } from './teller.js';

/** Turns that follow each other so soon are one. */
const PAUSE_MS = 250;
/** Turns beyond this are added to the last. */
const MAX_TURNS = 50;

interface Turn {
  readonly target: Target;
  dx: number;
  dy: number;
  at: number;
  /** How much there was to scroll through. */
  readonly extent: number;
}

/**
 * Turns of the wheel. What only brings an element into view is left out, since acts do that by themselves; what makes a
 * page draw more, or that the page listens to, is recorded.
 */
export class Wheels {
  readonly #teller: Teller;
  #turns: Turn[] = [];
  /** What was there before the first turn. */
  #known: WeakSet<Element> | null = null;

  constructor(teller: Teller) {
    this.#teller = teller;
  }

  turn(event: WheelEvent): void {
    const hit = innermost(event);
    if (!isElement(hit)) return;
    this.#known ??= new WeakSet(hit.ownerDocument.querySelectorAll('*'));
    const last = this.#turns.at(-1);
    const scroller = scrollerOf(hit, event.deltaX === 0 ? 'y' : 'x');
    const extent = scroller.scrollHeight + scroller.scrollWidth;
    // A page that draws more at its end is to be given the time again.
    const again = last !== undefined && last.target.element === scroller && last.extent === extent;
    if (again && (event.timeStamp - last.at < PAUSE_MS || this.#turns.length >= MAX_TURNS)) {
      last.dx += event.deltaX;
      last.dy += event.deltaY;
      last.at = event.timeStamp;
      return;
    }
    const target = targetOf(scroller);
    this.#turns.push({ target, dx: event.deltaX, dy: event.deltaY, at: event.timeStamp, extent });
  }

  /** After the page's own listeners: one that took the turn does something else with it than to scroll. */
  turnEnded(event: Event): void {
    const hit = innermost(event);
    if (!event.defaultPrevented || !isElement(hit)) return;
    this.#turns.pop();
    const { element, recorded } = targetAt(hit);
    const { deltaX, deltaY } = event as WheelEvent;
    this.#teller.act(element, recorded, { action: 'wheel', value: [deltaX, deltaY] });
  }

  /** An element is about to be acted on: tells of the turns without which it was not there. */
  before(element: Element): void {
    const turns = this.#turns.splice(0);
    const known = this.#known;
    this.#known = null;
    if (known === null || known.has(element)) return;
    for (const { target, dx, dy } of turns) {
      this.#teller.act(target.element, target.recorded, { action: 'wheel', value: [dx, dy] });
    }
  }
}
