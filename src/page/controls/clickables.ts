import { CARRY, DOWN, DROP, HOVER, KEYS, POINTED, PRESS, TAKES, WHOLE } from '../event-kinds.js';
import { isControl, naturalRole, roleOf } from '../names/roles.js';
import { childrenOf } from '../tree/form-members.js';
import { drawnRect, isPartOfPage } from '../tree/visibility.js';
import { isCarriedByClass, isPane, isThumb } from './carried.js';
import { anyCarried } from './drags.js';
import { isPointedAt, reveals } from './hover-rules.js';
import { isOwnRow } from './own-rows.js';
import { hearsFocus, reactionsOf, writtenKinds } from './reactions.js';
import { holdsControls } from './wrappers.js';

/** Controls that may hold others, which stand beside what they themselves show: a branch's expander, a tab's close. */
const HOLDERS = new Set(['treeitem', 'tab', 'option', 'listitem', 'row', 'slider']);
/** Parts of a table that a listener on what they stand in is for. */
export const CELLS = /^(gridcell|columnheader|rowheader)$/;
/** Parts of a table that show more, or light up, while the pointer is above them. */
const TABLE_CELLS = /^(?:cell|columnheader|rowheader)$/;
const LISTS = /^(?:list|listbox|rowgroup)$/;
const HELD_LISTS = 'ul, ol, tbody, [role="list"], [role="listbox"], [role="tree"]';
/** By which attributes a cell says where in its sheet it stands. */
const SHEET_PLACES = [
  ['data-x', 'data-y'],
  ['data-row', 'data-col'],
  ['data-row', 'data-column'],
];
/** Words by which pages class a small part of an item that is operated on its own. */
const PART_CLASS = /(?:^|[-_\s])(?:checkbox|expander|grip|handle|toggler|twisty|twistie)(?:\s|$)/i;
const BOX_CLASS = /(?:^|[-_\s])checkbox(?:\s|$)/i;
const HELD_CLASS = /(?:^|[-_\s])(?:grip|handle)(?:$|[-_\s])/i;
const RESIZES = /-resize$/;
/** What is dragged by a cursor for resizing is as narrow as this, in CSS pixels. */
const GRIP_SIZE = 24;
/** Such a part is at most of this size, in CSS pixels, and has at most a sign as its text. */
const PART_SIZE = 40;
const PART_TEXT = 2;
/** Only a part of a control, of its area, is something of its own. */
const PART = 0.5;
const MAX_HOVERED_CHILDREN = 3;

/** Why an element that is no control by its nature may be one. */
export interface Clickable {
  /** Its page says so: by its cursor, its markup, or by what is around it. */
  readonly sure: boolean;
  /** It listens for what a pointer does. */
  readonly listens: boolean;
  /** It reacts in another way alone: to what is dropped on it, to keys, to the pointer above it. */
  readonly otherwise: boolean;
}

/**
 * What an element without the nature of a control reacts to; null for nothing.
 *
 * @param around whether what is around it has the pointer as its cursor, and listens
 */
export function clickableOf(
  element: Element,
  style: CSSStyleDeclaration,
  around: { readonly pointer: boolean; readonly listened: boolean },
): Clickable | null {
  const kinds = reactionsOf(element);
  const { cursor } = style;
  const byStyle = (!around.pointer && (cursor === 'pointer' || isPointedAt(element))) || isHandle(element, cursor);
  const inMarkup = kinds !== 0 && (writtenKinds(element) & POINTED) !== 0;
  const listens = (kinds & POINTED) !== 0;
  const isCell =
    (listens || (around.listened && !isBlankBesideControls(element))) && CELLS.test(element.getAttribute('role') ?? '');
  const isPart = !around.pointer && (around.listened || wholeListens(element)) && isPartByClass(element);
  const isMoved = around.listened && !around.pointer && isCarriedByClass(element);
  const byPlace = isCell || isMoved || isPart || isRevealer(element) || isSheetCell(element, around.listened);
  const sure = byStyle || inMarkup || byPlace || element.getAttribute('draggable') === 'true';
  const focusable =
    element.hasAttribute('tabindex') &&
    roleOf(element) !== 'tabpanel' &&
    (around.listened ||
      (kinds & KEYS) !== 0 ||
      ((wholeListens(element) || hearsFocus(element)) && isInTabOrder(element, style)));
  const touched = !listens && (around.listened || wholeListens(element)) && takesTouches(element, style);
  const drops = (kinds & DROP) !== 0 && takesDrops(element);
  const isFree = !around.pointer && (!around.listened || isHoveredAlone(element, kinds));
  const hovers = (kinds & HOVER) !== 0 && isFree && !TABLE_CELLS.test(naturalRole(element)) && isSmall(element);
  const otherwise = focusable || touched || drops || hovers;
  return sure || listens || otherwise ? { sure, listens, otherwise } : null;
}

/**
 * Whether something can be dropped on an element that listens for it. Lists of a page on which nothing is dragged take nothing; files are dropped
 * on a place that has no items.
 */
function takesDrops(element: Element): boolean {
  return !isSortable(element) && (!isList(element) || anyCarried());
}

/** Whether an element is a list, or holds several things of one kind. */
function isList(element: Element): boolean {
  if (LISTS.test(naturalRole(element)) || element.querySelector(HELD_LISTS) !== null) return true;
  const [first, ...others] = childrenOf(element);
  return first !== undefined && others.length > 0 && others.every((one) => isTwin(one, first));
}

/** Whether an item that reacts to nothing but the pointer above it stands among others that are pressed: it opens a menu. */
function isHoveredAlone(element: Element, kinds: number): boolean {
  if ((kinds & PRESS) !== 0 || !showsArrow(element)) return false;
  return siblingsOf(element).some(
    (one) => one !== element && one.localName === element.localName && (reactionsOf(one) & PRESS) !== 0,
  );
}

/** Whether something is drawn before or after an item's text. */
function showsArrow(element: Element): boolean {
  const { lastElementChild: last } = element;
  if (last !== null && last.textContent?.trim() === '' && last.checkVisibility()) return true;
  return ['::after', '::before'].some((part) => !/^(?:none|normal)$/.test(getComputedStyle(element, part).content));
}

/** Whether an element fills up a row whose other cells each hold a control, as a calendar does before the first of a month. */
function isBlankBesideControls(element: Element): boolean {
  if (element.childElementCount > 0 || element.textContent?.trim() !== '') return false;
  const filled = siblingsOf(element).filter((one) => one.childElementCount > 0);
  return filled.length > 0 && filled.every(holdsControls);
}

/** Whether an element is a cell that says where in its sheet it stands, and what is around it listens for all of them. */
function isSheetCell(element: Element, listened: boolean): boolean {
  if (element.localName !== 'td') return false;
  if (SHEET_PLACES.some((place) => place.every((one) => element.hasAttribute(one)))) return wholeListens(element);
  const row = element.parentElement;
  const isPlaced = /^\d+$/.test(element.getAttribute('col') ?? '') && row?.hasAttribute('index') === true;
  return isPlaced && (listened || wholeListens(element));
}

/** Whether an element is a box that its library draws in an item: what listens around it tells the two apart. */
function isBoxByClass(element: Element): boolean {
  return BOX_CLASS.test(element.getAttribute('class') ?? '') && isPartByClass(element);
}

/** Whether a small element without much of a text is classed as a part that is operated on its own: a branch's expander. */
function isPartByClass(element: Element): boolean {
  if (element.childElementCount > 0 || !PART_CLASS.test(element.getAttribute('class') ?? '')) return false;
  if ((element.textContent ?? '').trim().length > PART_TEXT) return false;
  const rect = drawnRect(element);
  return rect !== null && rect.width <= PART_SIZE && rect.height <= PART_SIZE;
}

/**
 * Whether an element with a listener is one of several tiles alike, of which some hold controls and others do not: such a
 * listener is not for the controls.
 */
export function isTile(element: Element): boolean {
  if (
    (reactionsOf(element) & POINTED) === 0 ||
    !isPartOfPage(element) ||
    element.querySelector('table, [role="row"]') !== null
  )
    return false;
  const kinds = reactionsOf(element);
  const { parentElement } = element;
  const cousins = (parentElement === null ? [] : siblingsOf(parentElement)).flatMap((one) => [...childrenOf(one)]);
  const peers = (twinsOf(element).length > 1 ? twinsOf(element) : cousins.filter((one) => isTwin(one, element))).filter(
    (one) => reactionsOf(one) === kinds,
  );
  return peers.length > 1 && !peers.every(holdsControls);
}

/** What stands beside an element in the same one, with itself. */
function siblingsOf({ parentElement }: Element): readonly Element[] {
  return parentElement === null ? [] : [...childrenOf(parentElement)];
}

function twinsOf(element: Element): readonly Element[] {
  return siblingsOf(element).filter((one) => isTwin(one, element));
}

function isTwin(one: Element, other: Element): boolean {
  return one.localName === other.localName && one.classList[0] === other.classList[0];
}

/**
 * Whether an element inside a control is another: it has listeners of its own, and is a part of it only.
 *
 * @param heard what is around the control listens for presses
 */
export function isOwnPart(element: Element, control: Element, heard: boolean): boolean {
  const role = roleOf(control);
  if (!HOLDERS.has(role) || isControl(element)) return false;
  const listens = (reactionsOf(element) & POINTED) !== 0;
  const isBox = heard && (reactionsOf(control) & POINTED) === 0 && isBoxByClass(element);
  if (!listens && (role === 'slider' || !(isBox || isGrip(element)))) return false;
  // Of a slider only what is there several times: the stars of a rating, not the thumb.
  if (role === 'slider' && twinsOf(element).length < 2) return false;
  const [inner, outer] = [drawnRect(element), drawnRect(control)];
  return inner !== null && outer !== null && inner.width * inner.height <= outer.width * outer.height * PART;
}

/**
 * Whether an element's children can be put in another order: its listeners are those of Sortable, or it is jQuery UI's. An
 * editor listens for presses and for what is held above it too, but takes itself what is dropped.
 */
export function isSortable(element: Element): boolean {
  const kinds = reactionsOf(element);
  return ((kinds & PRESS) !== 0 && (kinds & (DROP | TAKES)) === DROP) || element.classList.contains('ui-sortable');
}

/** Whether a person carries an element: by its own words, its cursor, or what it stands in. */
export function isCarried(element: Element): boolean {
  const kinds = reactionsOf(element);
  // What takes a drop hears where a drag begins in it, too.
  if (element.getAttribute('draggable') === 'true' || ((kinds & CARRY) !== 0 && (kinds & TAKES) === 0)) return true;
  const { parentElement } = element;
  if (parentElement !== null && isSortable(parentElement)) return true;
  const style = getComputedStyle(element);
  if ((kinds & DOWN) !== 0 && HELD_CLASS.test(element.getAttribute('class') ?? '')) return true;
  return (
    isHandle(element, style.cursor) || takesTouches(element, style) || isThumb(element) || isCarriedByClass(element)
  );
}

/** Whether an element's document or window listens for presses, on whatever is in it. */
export function wholeListens({ ownerDocument }: Element): boolean {
  const root: Element | null = ownerDocument.documentElement;
  return root !== null && (reactionsOf(root) & (WHOLE | PRESS)) !== 0;
}

/** Whether the Tab key stops at an element for what can be done with it: it neither scrolls nor is a large part of the page. */
function isInTabOrder(element: Element, { overflowX, overflowY }: CSSStyleDeclaration): boolean {
  const tabIndex = 'tabIndex' in element ? Number(element.tabIndex) : -1;
  const scrolls = /auto|scroll/.test(`${overflowX} ${overflowY}`);
  if (tabIndex < 0 || scrolls || roleOf(element) !== element.localName) return false;
  return isSmall(element) || (holdsControls(element) && isOwnRow(element));
}

/** Whether the page handles touches of an element by itself, and of nothing around it: it is dragged, or drawn on. */
function takesTouches(element: Element, { touchAction }: CSSStyleDeclaration): boolean {
  const { parentElement } = element;
  if (touchAction !== 'none' || parentElement === null) return false;
  return getComputedStyle(parentElement).touchAction !== 'none' && isSmall(element);
}

/** Whether a cursor says that one takes hold of the element: of one among several, or of something small. */
function isHandle(element: Element, cursor: string): boolean {
  if (RESIZES.test(cursor)) return isGripByCursor(element, cursor);
  if (cursor !== 'grab' && cursor !== 'move' && cursor !== '-webkit-grab') return false;
  const { parentElement } = element;
  if (parentElement === null) return false;
  if (isPane(element, cursor)) return true;
  const twins = siblingsOf(element).filter(({ localName }) => localName === element.localName);
  // A pane that is moved itself may hold what is.
  const isOwn = (reactionsOf(element) & DOWN) !== 0 && twins.length > 1 && isSmall(element, false);
  if (getComputedStyle(parentElement).cursor === cursor) return isOwn;
  return twins.length > 1 || (cursor !== 'move' && isSmall(element));
}

/** Whether something narrow, or a small thing, is dragged to make another thing larger or smaller. */
function isGripByCursor(element: Element, cursor: string): boolean {
  const { parentElement, childElementCount } = element;
  if (parentElement === null || childElementCount > MAX_HOVERED_CHILDREN) return false;
  if (getComputedStyle(parentElement).cursor === cursor) return false;
  const rect = drawnRect(element);
  const isNarrow = rect !== null && Math.min(rect.width, rect.height) <= GRIP_SIZE;
  return isNarrow && isGrabbed(element);
}

/** Whether an element or what it stands in, up to the document, reacts when the button goes down on it. */
function isGrabbed(element: Element): boolean {
  for (let node: Element | null = element; node !== null; node = node.parentElement)
    if ((reactionsOf(node) & DOWN) !== 0) return true;
  return wholeListens(element);
}

/** Whether a small part of an item is what the item is carried by. */
function isGrip(element: Element): boolean {
  const cursors = [element, element.parentElement].map((one) => (one === null ? '' : getComputedStyle(one).cursor));
  return /^(?:-webkit-)?grab$|^move$/.test(cursors[0] ?? '') && cursors[0] !== cursors[1] && isSmall(element);
}

/** Whether it is worth a look with the pointer: what it shows then can be seen by nothing else that is operated. */
function isRevealer(element: Element): boolean {
  if (!reveals(element)) return false;
  const inner = [...element.querySelectorAll('a[href], button, input, select, textarea, [role], [tabindex]')];
  return !inner.some((one) => one.checkVisibility({ visibilityProperty: true }));
}

function isSmall(element: Element, alone = true): boolean {
  return (
    element.childElementCount <= MAX_HOVERED_CHILDREN && !(alone && holdsControls(element)) && isPartOfPage(element)
  );
}
