import { askPage } from '../controls/ask-page.js';
import { CELLS, isTile } from '../controls/clickables.js';
import { boxesOf, isOwnRow, isPressedApart, ownTexts } from '../controls/own-rows.js';
import { isPressOn, lostIn } from '../controls/pressed-through.js';
import { reactionsOf } from '../controls/reactions.js';
import { POINTED } from '../event-kinds.js';
import { foldSpace } from '../locator.js';
import { checkedState, inputKind, isControl, roleOf } from '../names/roles.js';
import { type CornerPoint, isProblem, type PageProblem } from '../page-calls.js';
import { nameFor } from '../resolve.js';
import { isInside, parentOf } from '../tree/flat-tree.js';
import {
  elementAt,
  isInView,
  isSeenAt,
  pointFromCorner,
  pointsOf,
  reaches,
  takesPointer,
  viewportPoint,
  viewportRect,
} from '../tree/geometry.js';
import { isLayerOver } from '../tree/layers.js';
import type { Point } from '../tree/point.js';
import { bringIntoView, bringPointIntoView } from '../tree/scrolling.js';
import { isVeil } from '../tree/sight.js';
import { isShown, standIn } from '../tree/visibility.js';
import { outside } from './drop-place.js';
import { uncover } from './uncover.js';

/**
 * What an element is pointed at for: to press it; to carry it, by itself and by no small part that is drawn on it; or only to
 * have the pointer above it, or see that nothing covers it.
 */
export type Use = 'press' | 'carry' | 'point';

/**
 * A point where a control is pressed. One that its page has put away, out of sight or under what it draws itself, is pressed
 * by its label, or by what is drawn for it.
 */
export function pressablePoint(element: Element, at: CornerPoint | null, use: Use = 'press'): Point | PageProblem {
  const own = isShown(element) ? reachablePoint(element, element, at, use) : null;
  const label = own === null || isProblem(own) ? standIn(element) : null;
  return label === null ? (own ?? reachablePoint(element, element, at, use)) : reachablePoint(label, element, at, use);
}

/** The page hears of the scrolling with its next picture: what comes of that is looked at then. */
const SCROLLED: PageProblem = {
  problem: 'blocked',
  reason: 'keeps being scrolled away',
  final: false,
  soon: true,
};

/** A point where a press reaches the element, scrolled to if need be. */
export function reachablePoint(
  shown: Element,
  element: Element,
  at: CornerPoint | null,
  use: Use = 'press',
): Point | PageProblem {
  if (isMoving(shown)) return blocked('keeps moving');
  if (at !== null) return pointInside(shown, element, at, use);
  const isRow = use === 'press' && isOwnRow(element);
  const pressed = (): Point[] => [...pointsOf(shown), ...(isRow ? pointsOnTexts(element) : [])];
  const reachedIn = (points: readonly Point[]) => points.filter((point) => isOpen(point, shown, element, use));
  const chosen = (points: readonly Point[]): Point | undefined => {
    const free = isRow ? points.filter((point) => partAt(point, element) === null) : points;
    return beside(free, element) ?? besideParts(free, element, use === 'carry');
  };
  const open = chosen(reachedIn(pressed()));
  if (open !== undefined) return open;
  const before = shown.getBoundingClientRect();
  bringIntoView(shown);
  const after = shown.getBoundingClientRect();
  // The page hears of the scrolling with its next picture, and may close or move things then: a press comes after that.
  const moved = before.left !== after.left || before.top !== after.top;
  if (moved && pointsOf(shown).length > 0) {
    return SCROLLED;
  }
  const points = pressed();
  const [middle] = points;
  if (middle === undefined) return blocked('cannot be scrolled into view');
  const reached = reachedIn(points);
  const own = chosen(reached);
  if (own !== undefined) return own;
  const part = reached[0] === undefined ? null : partAt(reached[0], element);
  if (part !== null) return blocked(`cannot be clicked: ${nameFor(part)} in it covers all of it`);
  const cover = elementAt(middle);
  const lost = pressLost(middle, shown, element, use);
  if (lost !== null) return lost;
  if (cover === null || isInside(shown, cover)) return blocked('receives no clicks where it is drawn');
  const whole = outermost(cover, shown);
  if (!isVeil(whole.getBoundingClientRect(), whole.ownerDocument) && isFreeElsewhere(shown, element, whole, use)) {
    return SCROLLED;
  }
  return blocked(`is covered by ${nameFor(whole)}`);
}

/** Whether it has been scrolled out from under what covers it in the middle of its box. */
function isFreeElsewhere(shown: Element, element: Element, cover: Element, use: Use): boolean {
  const middle = (): Point | null => {
    const { x, y, width, height } = viewportRect(shown);
    return { x: x + width / 2, y: y + height / 2 };
  };
  return uncover(shown, cover, middle, () => pointsOf(shown).some((point) => isOpen(point, shown, element, use)));
}

/** Of a cell or a tile that holds controls, a point that is its own: the head of a column above the field in it. */
function beside(points: readonly Point[], element: Element): Point | undefined {
  if (points.length === 0 || !(CELLS.test(roleOf(element)) || isTile(element))) return undefined;
  return points.find((point) => {
    let node = elementAt(point);
    while (node !== null && node !== element && !isControl(node)) node = parentOf(node);
    return node === element;
  });
}

/** What is pressed for itself at a point of a row that holds it, or null. */
function partAt(point: Point, row: Element): Element | null {
  for (let node = elementAt(point); node !== null && node !== row; node = parentOf(node))
    if (isPressedApart(node)) return isInside(node, row) ? node : null;
  return null;
}

/** Points in a row's own texts, which no control in it covers for long. */
function pointsOnTexts(row: Element): Point[] {
  const boxes = ownTexts(row, MAX_TEXTS).flatMap((text) => boxesOf(text).slice(0, 1));
  return boxes
    .map(({ x, y, width, height }) => viewportPoint(row.ownerDocument, { x: x + width / 2, y: y + height / 2 }))
    .filter(isInView);
}

/** Of a row so many texts are tried. */
const MAX_TEXTS = 5;
const GRIP = /-resize$/;
/** Only what takes so small a part of an element's area is passed by. */
const SMALL_PART = 0.1;

/** The first point, unless a small thing of another purpose is drawn there: a grip, or a control in the element. */
function besideParts(points: readonly Point[], element: Element, carries: boolean): Point | undefined {
  const [first, ...others] = points;
  if (first === undefined || others.length === 0 || elementAt(first) === element) return first;
  askPage(element);
  const hits = (point: Point): boolean => hitsPart(point, element, carries);
  return hits(first) ? (others.find((point) => !hits(point)) ?? first) : first;
}

function hitsPart(point: Point, element: Element, carries: boolean): boolean {
  const { width, height } = element.getBoundingClientRect();
  for (
    let node = elementAt(point);
    node !== null && node !== element && isInside(node, element);
    node = parentOf(node)
  ) {
    if (isApart(node, element)) return true;
    const box = node.getBoundingClientRect();
    if (box.width * box.height > width * height * SMALL_PART) return false;
    if (carries && node.textContent === '') return true;
    if (isControl(node) || reactionsOf(node) !== 0 || GRIP.test(getComputedStyle(node).cursor)) return true;
  }
  return false;
}

/** Whether something in an element is pressed for itself, however large: a button of a card, which is no part of its label. */
function isApart(node: Element, element: Element): boolean {
  const isPressed = isControl(node) ? inputKind(node) !== 'typed' : (reactionsOf(node) & POINTED) !== 0;
  if (!isPressed || element.localName === 'label') return false;
  const own = foldSpace(node.textContent ?? '');
  return own === '' ? checkedState(node) !== null : own !== foldSpace(element.textContent ?? '');
}

/** A point that was asked for, scrolled to if need be. */
function pointInside(shown: Element, element: Element, at: CornerPoint, use: Use): Point | PageProblem {
  let point = pointFromCorner(shown, at);
  if (point !== null && !(isInView(point) && isOpen(point, shown, element, use))) {
    bringPointIntoView(shown, at);
    point = pointFromCorner(shown, at);
  }
  if (point === null) return blocked(outside(shown, at), true);
  if (!isInView(point)) return blocked(`cannot be scrolled to its point ${at.x}, ${at.y}`);
  if (isOpen(point, shown, element, use)) return point;
  const lost = pressLost(point, shown, element, use);
  if (lost !== null) return lost;
  const cover = elementAt(point);
  const where = `at its point ${at.x}, ${at.y}`;
  if (cover === null || isInside(shown, cover)) return blocked(`receives no clicks ${where}`);
  const whole = outermost(cover, shown);
  const aim = (): Point | null => pointFromCorner(shown, at);
  const isFree = (): boolean => {
    const there = aim();
    return there !== null && isInView(there) && isOpen(there, shown, element, use);
  };
  if (!isVeil(whole.getBoundingClientRect(), whole.ownerDocument) && uncover(shown, whole, aim, isFree))
    return SCROLLED;
  return blocked(`is covered by ${nameFor(whole)} ${where}`);
}

function isOpen(point: Point, shown: Element, element: Element, use: Use): boolean {
  const hit = elementAt(point);
  if (hit === null) return false;
  if (use === 'point') return isSeenAt(hit, shown) || isSeenAt(hit, element);
  return reaches(hit, shown) || isPressOn(hit, element);
}

/** Why an element is not pressed at a point, where the reason is its own style; null for another one. */
function pressLost(point: Point, shown: Element, element: Element, use: Use): PageProblem | null {
  if (use === 'point') return null;
  const hit = elementAt(point);
  const deaf = [element, shown].find((one) => !takesPointer(one));
  if (hit === null || deaf === undefined) return null;
  // Of something else that is hit, styles say whether it lies over the element or is seen through it.
  if (!isInside(deaf, hit) && (isLayerOver(hit, deaf) || !isControl(element))) return null;
  const lost = (isInside(element, hit) ? lostIn(element, hit) : null) ?? element;
  const whose = lost === element ? 'its pointer-events' : `the pointer-events of ${nameFor(lost)}`;
  const reason = `receives no clicks: ${whose} is none`;
  return { problem: 'blocked', reason, final: false, lasting: !isChanging(deaf), lost: true };
}

/** Whether styles of an element change by themselves: the end of an animation may give it the pointer back. */
function isChanging(element: Element): boolean {
  return element.ownerDocument.getAnimations().some(({ effect }) => {
    const target = effect === null || !('target' in effect) ? null : (effect as KeyframeEffect).target;
    if (target === null || !isInside(element, target)) return false;
    return effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY;
  });
}

/** The whole of what covers an element: the largest ancestor of the hit that does not hold the element too. */
function outermost(hit: Element, covered: Element): Element {
  let whole = hit;
  for (let node: Element | null = hit; node !== null && !isInside(covered, node); node = parentOf(node)) whole = node;
  return whole;
}

const GEOMETRY =
  /^(transform|translate|scale|rotate|left|right|top|bottom|inset|width|height|margin|padding|offset|min|max)/;

/** Whether an animation that will end moves the element. One that never ends is met by the guard on the click. */
function isMoving(element: Element): boolean {
  return element.ownerDocument.getAnimations().some(({ playState, effect }) => {
    if (playState !== 'running' || effect === null || !('getKeyframes' in effect)) return false;
    const { target } = effect as KeyframeEffect;
    if (target === null || !isInside(element, target)) return false;
    if (effect.getComputedTiming().endTime === Number.POSITIVE_INFINITY) return false;
    return (effect as KeyframeEffect)
      .getKeyframes()
      .some((frame) => Object.keys(frame).some((key) => GEOMETRY.test(key)));
  });
}

/** The element is there and cannot take the action. @param final waiting will not help */
export function blocked(reason: string, final = false): PageProblem {
  return { problem: 'blocked', reason, final };
}

/** The same, of what lasts unless the page does something about it. */
export function blockedUntilChanged(reason: string): PageProblem {
  return { problem: 'blocked', reason, final: false, lasting: true };
}
