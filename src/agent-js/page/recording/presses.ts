import { actionsOf } from '../controls/actions.js';
import { inputKind, isControl } from '../names/roles.js';
import { isElement, isHtml, isInside } from '../tree/flat-tree.js';
import { innermost } from '../tree/innermost.js';
import { type Target, targetAt } from './target.js';
import type { Teller } from './teller.js';

/** A pointer that has moved so far drags, in CSS pixels. */
const DRAGS = 6;
/** Of a longer path every second point is left out. */
const MAX_POINTS = 200;
/** A drag that leaves the straight line by more, in CSS pixels, is recorded point by point. */
const ASIDE = 15;
const LEFT = 0;
const RIGHT = 2;

type XY = readonly [x: number, y: number];

/** A button that went down. */
interface Press {
  readonly hit: Element;
  readonly target: Target;
  readonly button: number;
  readonly start: XY;
  /** From the corner of the target. */
  readonly at: XY;
  /** The target's, then. */
  readonly box: DOMRect;
  readonly modifiers: string;
  points: XY[];
  far: boolean;
  /** The page itself has taken the movement in hand, or the browser carries something. */
  carries: boolean;
  /** The button is up again. */
  released: boolean;
  done: boolean;
}

/** Clicks and drags: what a person does with a pointer. */
export class Presses {
  readonly #teller: Teller;
  readonly #before: (element: Element) => void;
  #awaited: number | undefined;
  #press: Press | null = null;

  /** @param before called with what is about to be told of */
  constructor(teller: Teller, before: (element: Element) => void) {
    this.#teller = teller;
    this.#before = before;
  }

  down(event: PointerEvent | MouseEvent): void {
    const hit = innermost(event);
    if (!isElement(hit)) return;
    // Both kinds of event tell of the same press.
    if (event.type === 'mousedown' && this.#press !== null && !this.#press.done && this.#press.hit === hit) return;
    this.#before(hit);
    const target = targetAt(hit);
    const box = target.element.getBoundingClientRect();
    this.#press = {
      box,
      hit,
      target,
      button: event.button,
      start: [event.clientX, event.clientY],
      at: [round(event.clientX - box.left), round(event.clientY - box.top)],
      modifiers: modifiersOf(event),
      points: [],
      far: false,
      carries: false,
      released: false,
      done: false,
    };
    this.#press.points.push(this.#press.at);
  }

  /** After the page's own listeners: whether they have taken the press. */
  downEnded(event: Event): void {
    if (this.#press !== null && event.defaultPrevented) this.#press.carries = true;
  }

  move(event: MouseEvent): void {
    const press = this.#press;
    if (press === null || press.done || press.released) return;
    const [x, y] = press.start;
    const [dx, dy] = [event.clientX - x, event.clientY - y];
    if (Math.hypot(dx, dy) >= DRAGS) press.far = true;
    press.points.push([round(press.at[0] + dx), round(press.at[1] + dy)]);
    if (press.points.length > MAX_POINTS) press.points = press.points.filter((_, index) => index % 2 === 0);
  }

  dragStart(): void {
    if (this.#press !== null) this.#press.carries = true;
  }

  /** A browser's own drag ends here; another's with the button. */
  drop(event: DragEvent): void {
    const press = this.#press;
    const hit = innermost(event);
    if (press === null || press.done || !isElement(hit)) return;
    const to = targetAt(hit);
    // A list that makes room as it is dragged over has the dragged thing itself where it is dropped.
    if (isInside(hit, press.target.element) || isInside(press.target.element, to.element)) {
      press.points.push([
        round(press.at[0] + event.clientX - press.start[0]),
        round(press.at[1] + event.clientY - press.start[1]),
      ]);
      this.#dragged(press);
      return;
    }
    press.done = true;
    const { left, top } = to.element.getBoundingClientRect();
    const at = { x: round(event.clientX - left), y: round(event.clientY - top) };
    this.#teller.act(press.target.element, press.target.recorded, {
      action: 'drag',
      drag: { to: to.recorded, at: isNearMiddle(to.element, at) ? null : at },
    });
  }

  up(event: MouseEvent): void {
    const press = this.#press;
    if (press === null || press.done || press.released || press.button !== LEFT) return;
    press.released = true;
    const { element } = press.target;
    if (press.far && !ownsItsValue(element)) {
      if (isDrag(press, event)) this.#dragged(press);
      else if (selectsText()) {
        press.done = true;
        this.#teller.note('text was selected with the mouse');
      }
      return;
    }
    press.points = [];
    // A page that has replaced what was pressed gets no click.
    if (!press.hit.isConnected) this.#clicked(press, 1);
    else this.#awaited = setTimeout(() => this.#clicked(press, 1), 0);
  }

  click(event: MouseEvent): void {
    const press = this.#press;
    clearTimeout(this.#awaited);
    // What the keyboard or a label clicks follows from what was recorded.
    if (press === null || press.done) return;
    if (press.far && !ownsItsValue(press.target.element) && !isInside(press.hit, press.target.element)) return;
    this.#clicked(press, event.detail);
  }

  contextMenu(event: MouseEvent): void {
    const press = this.#press;
    if (press === null || press.done || press.button !== RIGHT) {
      if (event.button === LEFT) this.#teller.note('a context menu was opened by the keyboard');
      return;
    }
    press.done = true;
    this.#teller.act(press.target.element, press.target.recorded, { action: 'rightclick', at: this.#at(press) });
  }

  auxClick(event: MouseEvent): void {
    if (event.button === 1) this.#teller.note('a click with the middle button');
  }

  #clicked(press: Press, count: number): void {
    if (press.done) return;
    press.done = true;
    const { element, recorded } = press.target;
    if (ownsItsValue(element)) return;
    if (press.modifiers !== '') {
      this.#teller.note(`a click with ${press.modifiers} on ${recorded.locator}`);
      return;
    }
    const at = this.#at(press);
    const again = count > 1 && this.#teller.lastElement === element;
    if (again && count === 2) this.#teller.act(element, recorded, { action: 'dblclick', at }, ['click']);
    else if (again && count === 3) this.#teller.act(element, recorded, { action: 'tripleclick', at }, ['dblclick']);
    else this.#teller.act(element, recorded, { action: 'click', at });
  }

  #at(press: Press): { x: number; y: number } | null {
    const [x, y] = press.at;
    const isPlace = press.target.pointed && x >= 0 && y >= 0;
    return isPlace && !isNearMiddle(press.target.element, { x, y }) ? { x, y } : null;
  }

  #dragged(press: Press): void {
    press.done = true;
    const { element, recorded } = press.target;
    const drag = isDrawn(element)
      ? { path: press.points.map(([x, y]): [number, number] => [x, y]) }
      : wayOf(press.points);
    this.#teller.act(element, recorded, { action: 'drag', drag });
  }
}

/** What the browser draws and changes by itself, and tells of by a change of its value. */
function ownsItsValue(element: Element): boolean {
  if (isHtml(element, 'select')) return true;
  if (!isHtml(element, 'input')) return false;
  return element.type === 'file' || inputKind(element) === 'set';
}

function isDrawn(element: Element): boolean {
  return element.localName === 'canvas' || element.localName === 'svg';
}

/** Whether a press that moved has carried something, and was no click of an unsteady hand. */
function isDrag({ target: { element }, box, carries }: Press, { clientX, clientY }: MouseEvent): boolean {
  if (isDrawn(element) || actionsOf(element).some((action) => action === 'drag')) return true;
  const role = element.getAttribute('role');
  if (role === 'slider' || role === 'separator') return true;
  const isInBox = box.left <= clientX && clientX <= box.right && box.top <= clientY && clientY <= box.bottom;
  return isInBox ? carries && !isControl(element) : carries || !selectsText();
}

/** A path where the way is not straight, else how far it went. */
function wayOf(points: readonly XY[]): { by: [number, number] } | { path: [number, number][] } {
  const [first = [0, 0], last = first] = [points[0], points.at(-1)];
  const [dx, dy] = [last[0] - first[0], last[1] - first[1]];
  const length = Math.hypot(dx, dy);
  const aside = points.map(([x, y]) => Math.abs((x - first[0]) * dy - (y - first[1]) * dx) / Math.max(1, length));
  if (Math.max(...aside) <= ASIDE) return { by: [round(dx), round(dy)] };
  return { path: points.map(([x, y]) => [x, y]) };
}

function selectsText(): boolean {
  return getSelection()?.isCollapsed === false;
}

function isNearMiddle(element: Element, at: { readonly x: number; readonly y: number }): boolean {
  const { width, height } = element.getBoundingClientRect();
  return Math.abs(at.x - width / 2) <= 2 && Math.abs(at.y - height / 2) <= 2;
}

function modifiersOf(event: MouseEvent): string {
  const held = [event.ctrlKey && 'Control', event.shiftKey && 'Shift', event.altKey && 'Alt', event.metaKey && 'Meta'];
  return held.filter((one) => one !== false).join('+');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
