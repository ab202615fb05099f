import { askPage } from '../controls/ask-page.js';
import { countNodes } from '../controls/count-nodes.js';
import { reactionsOf } from '../controls/reactions.js';
import { TAKES } from '../event-kinds.js';
import { foldSpace } from '../locator.js';
import type { DragEnd, DragFailure, DragWish } from '../page-calls.js';
import { isInside, parentOf, walk } from '../tree/flat-tree.js';
import { nextOf, previousOf } from '../tree/form-members.js';
import { viewportRect } from '../tree/geometry.js';
import type { Point } from '../tree/point.js';
import { isShown } from '../tree/visibility.js';
import { type DragTraces, drawnIn } from './drag-traces.js';
import type { DropPlace } from './drop-place.js';

/** What has moved by less, in CSS pixels, is where it was: a style may lift what the pointer is above. */
const LIFTED_PX = 4;
/** What a page rounds is where it was to be. */
const EXACT_PX = 2;
/** What has come less far has not moved. */
const LEAST_PX = 1;
/** With an element, so many of the boxes around it may move at most. */
const MAX_LEVELS = 8;
/** Elements beyond this are not compared. */
const MAX_ELEMENTS = 10_000;
/** A longer text is compared by its beginning. */
const MAX_TEXT = 1_000;
/** Pictures by which an element is known, too. */
const MAX_PICTURES = 4;
const PICTURES = 'img, image, use, source';
const ITEMS = /^(?:li|tr|option|article)$/;
const ITEM_ROLES = /^(?:listitem|row|option|treeitem|article)$/;
const CONTAINERS = /^(?:body|html|ul|ol|table|tbody|main)$/;

type Shift = readonly [dx: number, dy: number];

/** Where something stood before the drag. */
interface Stand {
  readonly element: Element;
  readonly parent: Element | null;
  readonly earlier: ReadonlySet<Element>;
  readonly later: ReadonlySet<Element>;
  readonly attributes: string;
  /** From the corner of its parent. */
  readonly middle: Point;
}

/**
 * Tells what has come of a drag by where the element stands afterwards: in the target, beside it in its list, or where it
 * stood. Where the page has drawn things anew, what looks like the element counts as it.
 */
export class DragWatch {
  readonly #element: Element;
  readonly #traces: DragTraces;
  /** The element, and the boxes around it outwards. */
  readonly #stands: readonly Stand[];
  readonly #box: DOMRect;
  /** What a page that draws a list anew draws for it. */
  #unit: Element;
  #likeness: string | null;
  #alike: ReadonlyMap<Element, string>;
  readonly #nodes = countNodes();
  /** Boxes around the target, itself among them, that do not hold the element. */
  #boxes = 0;
  #drawnInTarget = '';
  /** Something on the page is otherwise while the button is down. */
  #isSeen = false;
  /** The element, or a copy of it, is elsewhere while the button is down. */
  #isCarried = false;

  constructor(element: Element, traces: DragTraces) {
    this.#element = element;
    this.#traces = traces;
    this.#stands = standsOf(element);
    this.#box = viewportRect(element);
    this.#unit = element;
    this.#likeness = likenessOf(element);
    this.#alike = this.#alikeNow();
    if (this.#alike.size === 1) return;
    // Such as a grip, which looks like all others.
    this.#unit = unitOf(element);
    this.#likeness = likenessOf(this.#unit);
    this.#alike = this.#alikeNow();
  }

  aim(target: Element): void {
    this.#boxes = 0;
    for (let box: Element | null = target; box !== null && !isInside(this.#element, box); box = parentOf(box))
      this.#boxes++;
    this.#drawnInTarget = drawnIn(target);
  }

  /** To be called while the button is down. How far the element has come, in CSS pixels; null: nobody can tell. */
  hold(): Shift | null {
    const alike = this.#alikeNow();
    const shift = this.#shift(alike);
    this.#isSeen ||= this.#traces.any;
    this.#isCarried ||= (shift !== null && length(shift) > LIFTED_PX) || alike.size > this.#alike.size;
    this.#traces.hold();
    return shift;
  }

  /**
   * What has come of it; null: something has, and nobody can tell whether it was asked for. A line was drawn, something has
   * scrolled.
   *
   * @param place where it was to end, in this document or one that it reaches; null: elsewhere, or at no element
   * @param left what is left of it: anything at all; what is no element, such as a drawing
   */
  outcome(
    { to, by }: DragWish,
    place: DropPlace | null,
    left: { readonly any: boolean; readonly drawing: boolean },
    native: boolean,
  ): DragEnd | DragFailure | null {
    const alike = this.#alikeNow();
    if (by === null && place === null) return null;
    const isDropped = left.drawing || this.#traces.isRenamed || this.#traces.isChangedByDrop;
    const known = place !== null ? this.#at(place, isDropped, alike) : by !== null ? this.#by(by, alike) : null;
    if (known !== null) return known;
    const isBack = native ? place !== null : this.#isCarried && (place !== null || this.#shift(alike) !== null);
    // Without the browser's drop, whatever has come of it is none.
    if (left.any && !(native && place !== null) && (isDropped || !isBack)) return null;
    if (native && place === null) return null;
    const verb = place === null ? 'followed the pointer' : `was dragged to ${to}`;
    if (isBack) return { failure: 'back', reason: `${verb} and went back` };
    const isNoticed = native || this.#isSeen || countNodes() !== this.#nodes;
    const what = place === null ? 'was dragged' : verb;
    return { failure: isNoticed ? 'back' : 'nothing', reason: `${what}, without effect` };
  }

  /** Of a drag to a target. */
  #at(place: DropPlace, isSeen: boolean, alike: ReadonlyMap<Element, string>): DragEnd | DragFailure | null {
    const target = place.target();
    const moved = this.#moved(target, alike);
    if (moved.some((one) => this.#isAt(one, target, place)))
      return { outcome: alike.size > this.#alike.size ? 'copied' : 'moved' };
    if (moved.length === 0 && this.#isGone(alike)) return { outcome: 'removed' };
    const shift = this.#shift(alike);
    if (target !== null && shift !== null && this.#isAlong(target, shift)) return snapped(shift);
    const isElsewhere = moved.length > 0 && target !== null;
    const isInOwnList = moved.some((one) => this.#stands.some((stand) => stand.parent === parentOf(one)));
    const isTaken =
      (place.sawDrop && (isSeen || this.#hearsDrop(target))) ||
      (target !== null && drawnIn(target) !== this.#drawnInTarget);
    if (isTaken && !(isElsewhere && isInOwnList)) return { outcome: 'dropped' };
    return isElsewhere
      ? { failure: 'elsewhere', reason: `was dragged to ${place.locator} and is elsewhere now` }
      : null;
  }

  /** Of a drag by a distance. */
  #by(by: Shift, alike: ReadonlyMap<Element, string>): DragEnd | null {
    if (this.#isGone(alike)) return { outcome: 'removed' };
    const shift = this.#shift(alike);
    if (shift === null || length(shift) < LEAST_PX) return null;
    if (length([shift[0] - by[0], shift[1] - by[1]]) <= EXACT_PX) return { outcome: 'moved' };
    return snapped(shift);
  }

  /** What stands elsewhere than before: the element, a box around it, or what was drawn for it. */
  #moved(target: Element | null, alike: ReadonlyMap<Element, string>): Element[] {
    for (const stand of this.#stands) {
      if (!stand.element.isConnected || (target !== null && isInside(target, stand.element))) break;
      if (isElsewhere(stand)) return [stand.element];
    }
    // One that stands where one that has gone stood is the same, drawn anew.
    const left = new Set([...this.#alike].flatMap(([one, path]) => (alike.has(one) ? [] : [path])));
    return [...alike].filter(([one, path]) => !this.#alike.has(one) && !left.has(path)).map(([one]) => one);
  }

  /** Whether the target, or a box around it that does not hold the element, takes what is dropped on it. */
  #hearsDrop(target: Element | null): boolean {
    if (target === null) return false;
    askPage(target);
    let box: Element | null = target;
    for (let count = this.#boxes; count > 0 && box !== null; count--, box = parentOf(box))
      if ((reactionsOf(box) & TAKES) !== 0) return true;
    return false;
  }

  #isAt(one: Element, target: Element | null, place: DropPlace): boolean {
    if (target === null) return place.isWhere(one);
    if (isInside(one, target)) return true;
    if (isInside(target, one)) return false;
    let box: Element | null = target;
    for (let count = this.#boxes; count > 0 && box !== null; count--, box = parentOf(box))
      if (isInside(one, box)) return true;
    for (let item: Element | null = one; item !== null && !isInside(target, item); item = aloneIn(item))
      if (neighboursOf(item).some((neighbour) => isInside(target, neighbour))) return true;
    // What goes into a branch of a tree may stand behind all that was in it.
    if (place.into && target.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING) return true;
    return place.isWhere(one);
  }

  /** Of what can only be moved along one axis, as the thumb of a slider: whether it stands level with the target. */
  #isAlong(target: Element, [dx, dy]: Shift): boolean {
    const [own] = this.#stands;
    if (own === undefined || !own.element.isConnected || isReordered(own) || !isPlaced(own)) return false;
    const { x, y } = middleOf(own.element, null);
    const place = viewportRect(target);
    if (Math.abs(dy) < EXACT_PX) return x >= place.left && x <= place.right;
    return Math.abs(dx) < EXACT_PX && y >= place.top && y <= place.bottom;
  }

  #isGone(alike: ReadonlyMap<Element, string>): boolean {
    const unit = this.#unit;
    const isThere = unit.isConnected && isShown(unit);
    return this.#likeness === null ? !isThere : alike.size < this.#alike.size;
  }

  #shift(alike: ReadonlyMap<Element, string>): Shift | null {
    let element = this.#element;
    if (!element.isConnected) {
      const [only, ...others] = alike.keys();
      if (only === undefined || others.length > 0 || this.#unit !== element) return null;
      element = only;
    }
    const { x, y } = viewportRect(element);
    return [x - this.#box.x, y - this.#box.y];
  }

  /** All that looks like the element, and the way to it through the document. */
  #alikeNow(): Map<Element, string> {
    const found = new Map<Element, string>();
    if (this.#likeness === null) return found;
    let left = MAX_ELEMENTS;
    walk(document.documentElement, true, (one) => {
      if (left-- <= 0) return undefined;
      const isAlike = one.localName === this.#unit.localName && likenessOf(one) === this.#likeness;
      if (isAlike && isShown(one)) found.set(one, pathOf(one));
      return true;
    });
    return found;
  }
}

function snapped([dx, dy]: Shift): DragEnd {
  return { outcome: 'snapped', by: [Math.round(dx), Math.round(dy)] };
}

function length([dx, dy]: Shift): number {
  return Math.hypot(dx, dy);
}

function standsOf(element: Element): Stand[] {
  const stands: Stand[] = [];
  for (let node: Element | null = element; node !== null && stands.length < MAX_LEVELS; ) {
    const parent = parentOf(node);
    const { earlier, later } = siblingsOf(node);
    stands.push({
      element: node,
      parent,
      earlier: new Set(earlier),
      later: new Set(later),
      attributes: attributesOf(node),
      middle: middleOf(node, parent),
    });
    node = parent;
  }
  return stands;
}

function isElsewhere(stand: Stand): boolean {
  return isReordered(stand) || isPlaced(stand);
}

/** In another parent, or in another order among the same siblings. */
function isReordered({ element, parent, earlier, later }: Stand): boolean {
  if (parentOf(element) !== parent) return true;
  const now = siblingsOf(element);
  return now.earlier.some((one) => later.has(one)) || now.later.some((one) => earlier.has(one));
}

/** Put elsewhere by what the page has set on it. */
function isPlaced({ element, parent, attributes, middle }: Stand): boolean {
  if (attributesOf(element) === attributes) return false;
  const { x, y } = middleOf(element, parent);
  return Math.hypot(x - middle.x, y - middle.y) > LIFTED_PX;
}

/** The nearest first. */
function siblingsOf(element: Element): { readonly earlier: readonly Element[]; readonly later: readonly Element[] } {
  return { earlier: all(element, previousOf), later: all(element, nextOf) };
}

function all(from: Element, next: (element: Element) => Element | null): Element[] {
  const found: Element[] = [];
  for (let one = next(from); one !== null; one = next(one)) found.push(one);
  return found;
}

/** The parent of an element that holds nothing else. */
function aloneIn(element: Element): Element | null {
  const parent = parentOf(element);
  if (parent === null || CONTAINERS.test(parent.localName)) return null;
  const isAlone = parent.textContent === element.textContent && parent.childElementCount === 1;
  return isAlone ? parent : null;
}

/** What is drawn next to an element in its parent. */
function neighboursOf(element: Element): Element[] {
  const { earlier, later } = siblingsOf(element);
  const ends = [earlier.find(isShown), later.find(isShown)];
  return ends.filter((one) => one !== undefined);
}

function attributesOf(element: Element): string {
  return [...element.attributes].map(({ name, value }) => `${name}=${value}`).join('\n');
}

function middleOf(element: Element, parent: Element | null): Point {
  const { x, y, width, height } = viewportRect(element);
  const around = parent === null ? { x: 0, y: 0 } : viewportRect(parent);
  return { x: x + width / 2 - around.x, y: y + height / 2 - around.y };
}

/** The item that is drawn for an element: its row for a grip. */
function unitOf(element: Element): Element {
  const own = element.textContent;
  let item = element;
  for (let node: Element | null = element, levels = 0; node !== null && levels < MAX_LEVELS; levels++) {
    if (hasLikeSibling(node)) return node;
    if (ITEMS.test(node.localName) || ITEM_ROLES.test(node.getAttribute('role') ?? '')) item = node;
    node = parentOf(node);
    if (node === null || CONTAINERS.test(node.localName) || (own !== '' && node.textContent !== own)) break;
  }
  return item;
}

function hasLikeSibling(element: Element): boolean {
  const { earlier, later } = siblingsOf(element);
  const [className] = element.classList;
  return [...earlier, ...later].some(
    (one) => one.localName === element.localName && (className === undefined || one.classList.contains(className)),
  );
}

/** What an element is known by, drawn anew or twice; null: by nothing. */
function likenessOf(element: Element): string | null {
  const pictures = [element, ...[...element.querySelectorAll(PICTURES)].slice(0, MAX_PICTURES)];
  const words = [
    foldSpace((element.textContent ?? '').slice(0, MAX_TEXT)),
    ...pictures.map((one) => one.getAttribute('src') ?? one.getAttribute('href') ?? ''),
    element.getAttribute('aria-label') ?? '',
  ].filter((word) => word !== '');
  if (words.length > 0) return words.join('\n');
  // Such as a drawing.
  return element.innerHTML === '' ? null : element.innerHTML.slice(0, MAX_TEXT);
}

function pathOf(element: Element): string {
  const path: number[] = [];
  for (let node: Element | null = element; node !== null; node = parentOf(node)) {
    path.push(all(node, previousOf).length);
  }
  return path.join();
}
