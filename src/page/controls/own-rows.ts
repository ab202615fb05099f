import { POINTED } from '../event-kinds.js';
import { inputKind, isControl, roleOf } from '../names/roles.js';
import { isBoxless } from '../tree/boxless.js';
import { childNodesOf, isHtml, walk } from '../tree/flat-tree.js';
import { childrenOf, nextOf, previousOf } from '../tree/form-members.js';
import { isPartOfPage } from '../tree/visibility.js';
import { reactionsOf } from './reactions.js';

/** What is an item by its nature, whatever stands beside it. */
const ITEM_TAGS = new Set(['article', 'figure', 'li', 'tr']);
const ITEM_ROLES = new Set(['article', 'figure', 'listitem', 'row']);
/** What holds things of any kind, and is not one of several. */
const CONTAINERS =
  /^(?:aside|body|dialog|dl|fieldset|footer|form|header|html|label|main|nav|ol|table|tbody|tfoot|thead|ul)$/;
/** Words by which libraries class one of several things. */
const ITEM_CLASS = /(?:^|[-_\s])(?:card|entry|item|node|row|tile)(?:$|\s)/i;
/** Cells that are operated one by one, so that a press on their row is one on a cell; and the heads of several columns. */
const GRID_CELLS = '[role="gridcell"], [role="columnheader"], [role="rowheader"], :scope > th + th, table';
/** A part of this size shows no text, as one for screen readers alone, in CSS pixels. */
const DOT = 2;

/**
 * Whether an element that holds controls is pressed itself, beside them: a row of a list, a card, a node of a diagram. It
 * reacts to presses or is in the order of the Tab key, is one of several things and no part of the page that holds things of
 * all kinds, and shows a text that belongs to none of its controls.
 */
export function isOwnRow(element: Element): boolean {
  const isTabbed = isInTabOrder(element);
  if (!isTabbed && (reactionsOf(element) & POINTED) === 0) return false;
  return isItem(element, isTabbed) && isPartOfPage(element) && !scrolls(element) && ownTexts(element, 1).length > 0;
}

/** The drawn texts of an element that are in none of the controls in it, at most so many. */
export function ownTexts(element: Element, most: number): readonly Text[] {
  const texts: Text[] = [];
  walk(element, true, (inner) => {
    if (texts.length >= most || (inner !== element && isPressedApart(inner))) return undefined;
    if (!inner.checkVisibility() && !isBoxless(inner)) return undefined;
    for (const node of childNodesOf(inner)) {
      if (texts.length < most && node.nodeType === 3 && isDrawn(node as Text)) texts.push(node as Text);
    }
    return true;
  });
  return texts;
}

/** Whether something in an element is pressed for itself. */
export function isPressedApart(inner: Element): boolean {
  if (isControl(inner) || inner.hasAttribute('tabindex')) return true;
  return (reactionsOf(inner) & POINTED) !== 0 || (isHtml(inner, 'label') && inner.control !== null);
}

function isItem(element: Element, isTabbed: boolean): boolean {
  const { localName } = element;
  const role = roleOf(element);
  if (CONTAINERS.test(localName) || element.querySelector(GRID_CELLS) !== null) return false;
  if (role === localName ? ITEM_TAGS.has(localName) : ITEM_ROLES.has(role)) return true;
  if (role !== localName && role !== 'group') return false;
  if (isTabbed) return true;
  const isOneOfSeveral = ITEM_CLASS.test(element.getAttribute('class') ?? '') || hasTwin(element);
  // A press beside a field, on its frame or its unit, is one on the field.
  return role === localName && isOneOfSeveral && !holdsField(element);
}

/** Whether one like it, which reacts to presses too, stands beside an element, or in what stands beside its parent. */
function hasTwin(element: Element): boolean {
  const isTwin = (one: Element | null | undefined): boolean =>
    one != null &&
    one.localName === element.localName &&
    one.classList[0] === element.classList[0] &&
    (reactionsOf(one) & POINTED) !== 0;
  if (isTwin(previousOf(element)) || isTwin(nextOf(element))) return true;
  const { parentElement } = element;
  const around = parentElement === null ? [] : [previousOf(parentElement), nextOf(parentElement)];
  return around.some((one) => one !== null && [...childrenOf(one)].slice(0, 2).some(isTwin));
}

function holdsField(element: Element): boolean {
  return [...element.querySelectorAll('input, select, textarea, [contenteditable], [role]')].some(
    (one) => inputKind(one) !== 'none' || one.localName === 'select' || roleOf(one) === 'combobox',
  );
}

function isInTabOrder(element: Element): boolean {
  return element.hasAttribute('tabindex') && 'tabIndex' in element && Number(element.tabIndex) >= 0;
}

function scrolls(element: Element): boolean {
  const { overflowX, overflowY } = getComputedStyle(element);
  return /auto|scroll/.test(`${overflowX} ${overflowY}`);
}

function isDrawn(text: Text): boolean {
  if (!/[\p{L}\p{N}]/u.test(text.data)) return false;
  const { parentElement } = text;
  const box = parentElement?.getBoundingClientRect();
  const isDot = box !== undefined && box.width <= DOT && box.height <= DOT;
  return !isDot && boxesOf(text).length > 0;
}

/** The lines in which a text is drawn. */
export function boxesOf(text: Text): readonly DOMRect[] {
  const range = text.ownerDocument.createRange();
  range.selectNodeContents(text);
  return [...range.getClientRects()].filter(({ width, height }) => width > DOT && height > DOT);
}
