import { CARRY, DROP, HOVER, KEYS, POINTED, PRESS, TAKES, WHOLE } from '../event-kinds.js';
import { isControl, roleOf } from '../names/roles.js';
import { drawnRect } from '../tree/visibility.js';
import { isPointedAt, reveals } from './hover-rules.js';
import { reactionsOf, writtenKinds } from './reactions.js';
import { holdsControls } from './wrappers.js';

/** Controls that may hold others, which stand beside what they themselves show: a branch's expander, a tab's close. */
const HOLDERS = new Set(['treeitem', 'tab', 'option', 'listitem', 'row']);
/** Only a part of a control, of its area, is something of its own. */
const PART = 0.5;
/** What reacts to the pointer above it is no whole part of the page, but at most so much of its viewport. */
const HOVERED_PART = 1 / 8;
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
  const cell = around.listened && element.getAttribute('role') === 'gridcell';
  const sure = byStyle || inMarkup || cell || isRevealer(element) || element.getAttribute('draggable') === 'true';
  const listens = (kinds & POINTED) !== 0;
  const focusable =
    element.hasAttribute('tabindex') &&
    roleOf(element) !== 'tabpanel' &&
    (around.listened || (kinds & KEYS) !== 0 || (wholeListens(element) && isInTabOrder(element, style)));
  const touched = !listens && (around.listened || wholeListens(element)) && takesTouches(element, style);
  const drops = (kinds & DROP) !== 0 && !isSortable(element);
  const hovers = (kinds & HOVER) !== 0 && !around.pointer && !around.listened && isSmall(element);
  const otherwise = focusable || touched || drops || hovers;
  return sure || listens || otherwise ? { sure, listens, otherwise } : null;
}

/** Whether an element inside a control is another: it has listeners of its own, and is a part of it only. */
export function isOwnPart(element: Element, control: Element): boolean {
  if (!HOLDERS.has(roleOf(control)) || isControl(element) || (reactionsOf(element) & POINTED) === 0) return false;
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
  if (element.getAttribute('draggable') === 'true' || (reactionsOf(element) & CARRY) !== 0) return true;
  const { parentElement } = element;
  if (parentElement !== null && isSortable(parentElement)) return true;
  const style = getComputedStyle(element);
  return isHandle(element, style.cursor) || takesTouches(element, style);
}

/** Whether an element's document or window listens for presses, on whatever is in it. */
function wholeListens({ ownerDocument }: Element): boolean {
  const root: Element | null = ownerDocument.documentElement;
  return root !== null && (reactionsOf(root) & (WHOLE | PRESS)) !== 0;
}

/** Whether the Tab key stops at an element for what can be done with it: it neither scrolls nor is a large part of the page. */
function isInTabOrder(element: Element, { overflowX, overflowY }: CSSStyleDeclaration): boolean {
  const tabIndex = 'tabIndex' in element ? Number(element.tabIndex) : -1;
  const scrolls = /auto|scroll/.test(`${overflowX} ${overflowY}`);
  return tabIndex >= 0 && !scrolls && roleOf(element) === element.localName && isSmall(element);
}

/** Whether the page handles touches of an element by itself, and of nothing around it: it is dragged, or drawn on. */
function takesTouches(element: Element, { touchAction }: CSSStyleDeclaration): boolean {
  const { parentElement } = element;
  if (touchAction !== 'none' || parentElement === null) return false;
  return getComputedStyle(parentElement).touchAction !== 'none' && isSmall(element);
}

/** Whether a cursor says that one takes hold of the element: of one among several, or of something small. */
function isHandle(element: Element, cursor: string): boolean {
  if (cursor !== 'grab' && cursor !== 'move' && cursor !== '-webkit-grab') return false;
  const { parentElement } = element;
  if (parentElement === null || getComputedStyle(parentElement).cursor === cursor) return false;
  const twins = [...parentElement.children].filter(({ localName }) => localName === element.localName);
  return twins.length > 1 || (cursor !== 'move' && isSmall(element));
}

/** Whether it is worth a look with the pointer: what it shows then can be seen by nothing else that is operated. */
function isRevealer(element: Element): boolean {
  if (!reveals(element)) return false;
  const inner = [...element.querySelectorAll('a[href], button, input, select, textarea, [role], [tabindex]')];
  return !inner.some((one) => one.checkVisibility({ visibilityProperty: true }));
}

function isSmall(element: Element): boolean {
  if (element.childElementCount > MAX_HOVERED_CHILDREN || holdsControls(element)) return false;
  const rect = drawnRect(element);
  return rect !== null && rect.width * rect.height <= innerWidth * innerHeight * HOVERED_PART;
}
