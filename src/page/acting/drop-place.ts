import { parseLocator } from '../locator.js';
import { roleOf } from '../names/roles.js';
import {
  type CornerPoint,
  type DropPoint,
  isProblem,
  PAST_MIDDLE,
  type PageProblem,
  type Sought,
} from '../page-calls.js';
import { inertReason, resolve } from '../resolve.js';
import { isInside } from '../tree/flat-tree.js';
import { elementAt, isInView, isSeenAt, pointFromCorner, pointsOf, viewportRect } from '../tree/geometry.js';
import { innermost } from '../tree/innermost.js';
import type { Point } from '../tree/point.js';
import { bringIntoView } from '../tree/scrolling.js';
import type { WindowListeners } from '../window-listeners.js';

/** Lists move their items for as long as this while something is dragged over them, in milliseconds. */
const STILL_MS = 1_000;
const LOOK_EVERY_MS = 30;
/** A frame is waited for so long, in milliseconds. */
const FRAME_MS = 250;
/** What has not moved for so many looks stands still. */
const STILL_LOOKS = 3;

/** Where a drag ends. It is found before the drag begins: what is carried may change names on its way. */
export class DropPlace {
  readonly #eventsIn: (inner: Document) => DragEvents | null;
  readonly #sought: Sought<string>;
  #element: Element;
  /** Where it was when the drag began. */
  #box: DOMRect;
  #point: DropPoint | null = null;

  private constructor(sought: Sought<string>, element: Element, eventsIn: (inner: Document) => DragEvents | null) {
    this.#sought = sought;
    this.#element = element;
    this.#eventsIn = eventsIn;
    this.#box = viewportRect(element);
    eventsIn(element.ownerDocument)?.forget();
  }

  static of(
    { locator, ...shown }: Sought<string>,
    eventsIn: (inner: Document) => DragEvents | null,
  ): DropPlace | PageProblem {
    const sought = { locator, ...shown };
    const element = resolve(sought);
    if (isProblem(element)) return element;
    const inert = inertReason(element, parseLocator(locator)?.kind === 'text');
    return inert === null ? new DropPlace(sought, element, eventsIn) : blocked(inert, false);
  }

  get locator(): string {
    return this.#sought.locator;
  }

  /** What is dropped on it goes into it, as into a branch of a tree. */
  get into(): boolean {
    return this.#point?.into === true;
  }

  /** Whether something that the browser has carried was dropped on it. */
  get sawDrop(): boolean {
    const hit = this.#eventsIn(this.#element.ownerDocument)?.droppedOn;
    return hit !== undefined && isInside(hit, this.#element);
  }

  /** The element, or the one that the page has drawn in its place; null: it has gone. */
  target(): Element | null {
    if (this.#element.isConnected) return this.#element;
    const again = resolve(this.#sought);
    return isProblem(again) ? null : again;
  }

  /** Whether something is drawn where the drag has ended. */
  isWhere(one: Element): boolean {
    const box = viewportRect(one);
    const target = this.target();
    const places = target === null ? [this.#box] : [this.#box, viewportRect(target)];
    if (places.some((place) => holds(place, middleOf(box)))) return true;
    const [last = this.#box] = places.slice(-1);
    return holds(box, middleOf(last)) || (this.#point !== null && holds(box, this.#point));
  }

  /**
   * Where it is now.
   * @param begins the drag has not begun: nothing is scrolled
   * @param still waits until it stands still
   */
  async point(
    at: CornerPoint | null,
    { begins, still }: { readonly begins: boolean; readonly still: boolean },
  ): Promise<DropPoint | PageProblem> {
    this.#element = this.target() ?? this.#element;
    if (still) await untilStill(this.#element);
    const found = pointOf(this.#element, at) ?? (begins ? NOWHERE : this.#scrolledTo(at));
    if (found === null) return blocked('cannot be scrolled into view', false);
    if (found === 'outside') return blocked(outside(this.#element, at ?? NOWHERE), true);
    this.#point = found;
    return found;
  }

  #scrolledTo(at: CornerPoint | null): DropPoint | 'outside' | null {
    bringIntoView(this.#element);
    this.#box = viewportRect(this.#element);
    return pointOf(this.#element, at);
  }
}

const NOWHERE: DropPoint = { x: 0, y: 0, width: 0, height: 0, into: false };

function middleOf({ x, y, width, height }: DOMRect): Point {
  return { x: x + width / 2, y: y + height / 2 };
}

function holds({ left, top, right, bottom }: DOMRect, { x, y }: Point): boolean {
  return x >= left && x <= right && y >= top && y <= bottom;
}

function pointOf(element: Element, at: CornerPoint | null): DropPoint | 'outside' | null {
  const corner = at === null ? undefined : pointFromCorner(element, at);
  if (corner === null) return 'outside';
  const points = corner === undefined ? pointsOf(element) : isInView(corner) ? [corner] : [];
  const [middle] = points;
  if (middle === undefined) return null;
  const { width, height } = element.getBoundingClientRect();
  const drawn =
    corner === undefined && isEmptyAt(element, middle) ? points.find((one) => isDrawnAt(element, one)) : undefined;
  const point = drawn ?? middle;
  const past = [-PAST_MIDDLE, PAST_MIDDLE].flatMap((part) => [
    { x: point.x + part * width, y: point.y },
    { x: point.x, y: point.y + part * height },
  ]);
  const into = roleOf(element) === 'treeitem' || past.some((one) => isEmptyAt(element, one));
  return { ...point, width, height, into };
}

/** What is around an element shows through there, as between the parts of a drawing. What is carried hides nothing. */
function isEmptyAt(element: Element, point: Point): boolean {
  const hit = elementAt(point);
  return hit !== null && hit !== element && isInside(element, hit) && !isSeenAt(hit, element);
}

function isDrawnAt(element: Element, point: Point): boolean {
  const hit = elementAt(point);
  return hit !== null && isSeenAt(hit, element);
}

/** Why a point is none of an element, completing "it ...". */
export function outside(element: Element, { x, y }: CornerPoint): string {
  const { width, height } = element.getBoundingClientRect();
  return `has no point ${x}, ${y}: it is ${Math.round(width)} x ${Math.round(height)}`;
}

/** Waits until an element has been where it is for some frames, and nothing around it is on its way to another place. */
export async function untilStill(element: Element): Promise<void> {
  const deadline = performance.now() + STILL_MS;
  let before = '';
  for (let same = 0; same < STILL_LOOKS && performance.now() < deadline; ) {
    const { x, y, width, height } = element.getBoundingClientRect();
    const now = `${x} ${y} ${width} ${height}`;
    same = now === before && !isAnimated(element.ownerDocument) ? same + 1 : 0;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    await frameDrawn();
  }
}

/** Whether anything moves that will stop. */
function isAnimated(inner: Document): boolean {
  return inner
    .getAnimations()
    .some(
      ({ playState, effect }) =>
        playState === 'running' && effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY,
    );
}

/** What moves is seen to move by frames alone, which a busy browser draws late; one that is hidden draws none. */
function frameDrawn(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => resolve());
    setTimeout(resolve, FRAME_MS);
  });
}

function blocked(reason: string, final: boolean): PageProblem {
  return { problem: 'blocked', reason, final };
}

/**
 * Hears of what the browser carries over a document: a page lets it be carried off by leaving the browser its default, and
 * takes it by preventing that.
 */
export class DragEvents {
  #start: Event | null = null;
  #over: Event | null = null;
  #droppedOn: Node | undefined;

  constructor(listeners: WindowListeners) {
    listeners.add(['dragstart', 'dragover', 'drop'], (event) => this.#note(event), { capture: true });
  }

  /** To be called before a drag. */
  forget(): void {
    this.#start = null;
    this.#droppedOn = undefined;
  }

  /** Whether the browser carries something off. */
  get started(): boolean {
    return this.#start?.defaultPrevented === false;
  }

  /** Of the last place that something was carried over, once its listeners have been called. */
  get taken(): boolean {
    return this.#over?.defaultPrevented === true;
  }

  /** What it was dropped on; undefined: it was not dropped here. */
  get droppedOn(): Node | undefined {
    return this.#droppedOn;
  }

  #note(event: Event): void {
    if (!event.isTrusted) return;
    if (event.type === 'dragstart') this.#start = event;
    else if (event.type === 'dragover') this.#over = event;
    else this.#droppedOn = innermost(event);
  }
}
