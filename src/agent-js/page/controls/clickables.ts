import { CARRY, DROP, HOVER, KEYS, POINTED, PRESS } from '../event-kinds.js';
import { isControl, roleOf } from '../names/roles.js';
import { drawnRect } from '../tree/visibility.js';
import { reveals } from './hover-rules.js';
import { reactionsOf, writtenKinds } from './reactions.js';
import { holdsControls } from './wrappers.js';

/** Controls that may hold others, which stand beside what they themselves show: a branch's expander, a tab's close. */
const HOLDERS = new Set(['treeitem', 'tab', 'option', 'listitem', 'row']);
/** Where a listener on all of them is for each. */
const LISTS = new Set(['list', 'listbox', 'grid', 'rowgroup', 'menu', 'tree']);
/** So many children of one kind make a list of what holds them. */
const MIN_ITEMS = 3;
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
  { cursor }: CSSStyleDeclaration,
  around: { readonly pointer: boolean; readonly listened: boolean },
): Clickable | null {
  const kinds = reactionsOf(element);
  const byStyle = (cursor === 'pointer' && !around.pointer) || isHandle(element, cursor);
  const inMarkup = kinds !== 0 && (writtenKinds(element) & POINTED) !== 0;
  const cell = around.listened && element.getAttribute('role') === 'gridcell';
  const sure = byStyle || inMarkup || cell || isRevealer(element) || element.getAttribute('draggable') === 'true';
  const listens = (kinds & POINTED) !== 0;
  const focusable = element.hasAttribute('tabindex') && (around.listened || (kinds & KEYS) !== 0);
  const drops = (kinds & DROP) !== 0 && !isSortable(element);
  const hovers = (kinds & HOVER) !== 0 && !around.pointer && !around.listened && isSmall(element);
  const otherwise = focusable || drops || hovers;
  return sure || listens || otherwise ? { sure, listens, otherwise } : null;
}

/** Whether an element inside a control is another: it has listeners of its own, and is a part of it only. */
export function isOwnPart(element: Element, control: Element): boolean {
  if (!HOLDERS.has(roleOf(control)) || isControl(element) || (reactionsOf(element) & POINTED) === 0) return false;
  const [inner, outer] = [drawnRect(element), drawnRect(control)];
  return inner !== null && outer !== null && inner.width * inner.height <= outer.width * outer.height * PART;
}

/** Whether an element's children can be put in another order: its listeners are those of Sortable, or it is jQuery UI's. */
export function isSortable(element: Element): boolean {
  const kinds = reactionsOf(element);
  return ((kinds & PRESS) !== 0 && (kinds & DROP) !== 0) || element.classList.contains('ui-sortable');
}

/** The items that a listener on what holds them is for; none where it is for the element itself. */
export function itemsOf(element: Element): readonly Element[] {
  if (isSortable(element)) return [...element.children];
  const { localName, children } = element;
  const cells = element.querySelectorAll('[role="gridcell"]');
  if (cells.length > 0) return holdsControls(element) ? [] : [...cells];
  switch (localName) {
    case 'ul':
    case 'ol':
    case 'tbody':
      return holdsControls(element) ? [] : [...children];
    case 'table':
      return holdsControls(element) ? [] : [...element.querySelectorAll(':scope > tbody > tr')];
    default:
  }
  const [first] = children;
  if (first === undefined || (children.length < MIN_ITEMS && !LISTS.has(roleOf(element)))) return [];
  const alike = [...children].every(
    (child) =>
      child.localName === first.localName &&
      child.classList[0] === first.classList[0] &&
      child.textContent?.trim() !== '',
  );
  return alike && !holdsControls(element) ? [...children] : [];
}

/** Whether a person carries an element: by its own words, its cursor, or what it stands in. */
export function isCarried(element: Element): boolean {
  if (element.getAttribute('draggable') === 'true' || (reactionsOf(element) & CARRY) !== 0) return true;
  const { parentElement } = element;
  if (parentElement !== null && isSortable(parentElement)) return true;
  return isHandle(element, getComputedStyle(element).cursor);
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
