import { foldSpace } from '../locator.js';
import { isElement, isHtml, isInside, parentOf, walk } from '../tree/flat-tree.js';
import { drawnRect, type Rect, rectOf } from '../tree/visibility.js';
import { isControl, isEditingHost, isField, NAMED_FROM_OUTSIDE, roleOf } from './roles.js';
import { rowName } from './row-name.js';
import { asSeen, spokenText } from './seen-text.js';

/** Text further from what it names is another thing's, in CSS pixels. */
const NEAR = 48;
/** Boxes overlap by so much where they only touch. */
const TOUCH = 4;
/** A longer text beside a field is no label. */
const MAX_LABEL = 80;
/** What is as long as this is a part of the page. */
const MAX_AROUND = 2_000;
/** Boxes of one row share at least so much of the lower one's height. */
const ONE_ROW = 0.4;

const BOUNDS = new Set(['body', 'html', 'form', 'fieldset', 'table', 'main', 'section', 'dialog', 'nav', 'ul', 'ol']);
/** What comes and goes over a page, and what tells of it. */
const PASSING = ['alert', 'alertdialog', 'dialog', 'listbox', 'log', 'menu', 'status', 'tooltip']
  .map((role) => `[role=${role}]`)
  .join();
const TAB_STOP = '[tabindex]:not([tabindex^="-"])';
export const CHECKED = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio']);

/** Where a text is drawn as seen from a control: `before` and `after` on its line, as its page is read. */
type Side = 'over' | 'before' | 'after' | 'above' | 'below';

type Way = 'previousSibling' | 'nextSibling';

/** Where a text is drawn, and how far the box reaches across that holds it. */
interface Place {
  readonly text: Rect;
  readonly box: Rect;
}

/** The siblings that are read for a name: on which side in the document of which node, the control or what holds it. */
interface Run {
  readonly named: Named;
  readonly node: Element;
  readonly way: Way;
  /** Among them are other fields. */
  readonly isShared: boolean;
}

/** What a name is looked for. */
interface Named {
  readonly element: Element;
  readonly rect: Rect;
  readonly isChecked: boolean;
  /** What stands in it: no name, wherever it is drawn once more. */
  readonly value: string;
}

/**
 * The text that is drawn beside a control, at most 48 pixels away: before a field or above it, after a box that one checks,
 * else before or above that. It stands with the control in a box that holds no other field, or in the row of siblings between
 * it and the next one. Text that is not drawn, that comes and goes, or that the control itself shows is no name.
 */
export function besideName(element: Element): string {
  let named = namedOf(element);
  if (named === null) return '';
  let node: Element = element;
  for (let around = parentOf(node); around !== null; around = parentOf(node)) {
    if (around.ownerDocument !== element.ownerDocument) return '';
    if (holdsOneField(node) || isTrack(node, element)) named = { ...named, rect: rectOf(node) };
    else if (BOUNDS.has(node.localName)) return '';
    if ((around.textContent ?? '').length > MAX_AROUND) return '';
    const isShared = holdsOther(around, element);
    const name = nameAt(named, node, isShared);
    // Beside a slider stands where it begins.
    if (name !== '' && (roleOf(element) !== 'slider' || /\p{L}/u.test(name))) return name;
    if (isShared) return '';
    node = around;
  }
  return '';
}

function namedOf(element: Element): Named | null {
  let drawn: Element | null = element;
  let rect = isOutOfSight(drawn) ? null : drawnRect(drawn);
  while (rect === null) {
    drawn = parentOf(drawn);
    if (drawn === null || drawn.ownerDocument !== element.ownerDocument) return null;
    rect = drawnRect(drawn);
  }
  const isChecked =
    CHECKED.has(roleOf(element)) || (isHtml(element, 'input') && /^(checkbox|radio)$/.test(element.type));
  return { element, rect, isChecked, value: isChecked ? '' : asSeen(shownIn(element)) };
}

function shownIn(element: Element): string {
  if (isHtml(element, 'select')) return element.selectedOptions[0]?.text ?? '';
  return isField(element) ? element.value : spokenText(element);
}

/** Among the siblings of a node, which is the control or what holds it. */
function nameAt(named: Named, node: Element, isShared: boolean): string {
  const { element, isChecked } = named;
  // Beside an item are other items: what is chosen already, or what one may choose.
  if (node.localName === 'li') return '';
  if (isChecked) {
    if (isCell(node)) return besideCell(named, node) || rowName(element);
    return runOf(named, node, 'nextSibling', isShared) || runOf(named, node, 'previousSibling', isShared);
  }
  return runOf(named, node, 'previousSibling', isShared) || textOver(named, node, isShared);
}

export function isCell(element: Element): boolean {
  return /^t[dh]$/.test(element.localName) || roleOf(element) === 'gridcell';
}

/** The text of the cell after a box's, and of the cell before it if that is the first of its row: others are no label. */
function besideCell(named: Named, cell: Element): string {
  const { nextElementSibling: next, previousElementSibling: before, parentElement: row } = cell;
  const inRow: Named = { ...named, rect: rectOf(cell) };
  const after =
    next === null || next.querySelector('a, [role="button"]') !== null ? '' : runOf(inRow, cell, 'nextSibling', true);
  return (
    after || (before !== null && before === row?.firstElementChild ? runOf(inRow, cell, 'previousSibling', true) : '')
  );
}

/**
 * The text of the siblings on one side of a node in the document, from the nearest on, up to the next control, if the nearest
 * is drawn where a name is.
 */
function runOf(named: Named, from: Element, way: Way, isShared: boolean): string {
  const { element, value } = named;
  let text = '';
  /** What the next part must be near to, and whether there was one. */
  let last = named.rect;
  let isBegun = false;
  for (let node: Node | null = from[way]; node !== null; node = node[way]) {
    let apart = false;
    let part = '';
    if (node.nodeType === 3) part = node.nodeValue ?? '';
    else if (isElement(node)) {
      if (isUnread(node)) continue;
      // A toolbar stands between an editor and its heading.
      if (way === 'previousSibling' && !isField(element) && isToolbar(node)) {
        last = rectOf(node);
        continue;
      }
      if (BOUNDS.has(node.localName) || isControl(node) || holdsControl(node) || holdsOther(node, element)) break;
      // The text before a field may be that of a control which the page draws.
      if (way === 'previousSibling' && (node.localName === 'a' || holdsStop(node))) break;
      part = spokenText(node);
      apart = node.localName !== 'br' && !getComputedStyle(node).display.startsWith('inline');
    }
    if (foldSpace(part) !== '') {
      if (asSeen(part) === value || isPlacedElsewhere(node, from)) continue;
      if (apart && isBegun) break;
      const place = placeOf(node);
      if (place === null) continue;
      if (isBegun ? gapOf(place.box, last) > NEAR : !isNameAt(place, last, { named, node: from, way, isShared })) break;
      isBegun = true;
      last = place.box;
    }
    text = way === 'nextSibling' ? `${text} ${part}` : `${part} ${text}`;
    if (apart && isBegun) break;
  }
  return labelText(text);
}

/** The text of an element after a node that is drawn over the field in it or before that, or is a label without a control. */
function textOver(named: Named, from: Element, isShared: boolean): string {
  for (let next = from.nextElementSibling; next !== null; next = next.nextElementSibling) {
    if (isUnread(next)) continue;
    if (isControl(next) || holdsControl(next) || holdsOther(next, named.element)) return '';
    const text = labelText(spokenText(next));
    if (text === '') continue;
    const place = asSeen(text) === named.value ? null : placeOf(next);
    if (place === null) continue;
    const side = sideOf(place.box, named.rect, next);
    if (side === 'over') return text;
    if (isPlacedElsewhere(next, from) || gapOf(place.box, named.rect) > NEAR) return '';
    const isBefore = !isShared && (side === 'before' || side === 'above');
    return isBefore || (isHtml(next, 'label') && next.control === null) ? text : '';
  }
  return '';
}

/** Whether the nearest text on one side of a node in the document is drawn where a name is. */
function isNameAt({ box, text }: Place, last: Rect, { named, node, way, isShared }: Run): boolean {
  const side = sideOf(box, last, node);
  switch (side) {
    case 'over':
      return true;
    case 'above':
      return gapOf(text, last) <= NEAR && (way === 'previousSibling' || !isShared);
    case 'below':
      return named.isChecked && way === 'nextSibling' && !isShared && isTight(node, last) && gapOf(text, last) <= NEAR;
    default:
      if (!named.isChecked && side === 'after') return false;
      return gapOf(box, last) <= NEAR || (!isShared && isRow(node));
  }
}

/** Whether all that stands around a node is hardly larger than the control: a box with its number below it. */
function isTight(node: Element, { width, height }: Rect): boolean {
  const around = parentOf(node);
  if (around === null) return false;
  const box = rectOf(around);
  return box.width <= width + 2 * NEAR && box.height <= height + 2 * NEAR;
}

/** Whether a page sets a node apart from its siblings in one row, as a switch at the end of a line of settings. */
function isRow(node: Element): boolean {
  const around = parentOf(node);
  return around !== null && /flex|grid|table-row/.test(getComputedStyle(around).display);
}

/** As the text is read: it may begin on the right. */
function sideOf(box: Rect, of: Rect, node: Element): Side {
  if (isOver(box, of)) return 'over';
  const shared = Math.min(box.bottom, of.bottom) - Math.max(box.top, of.top);
  if (shared >= ONE_ROW * Math.min(box.height, of.height)) {
    const isLeft = box.left + box.right < of.left + of.right;
    return isLeft === (getComputedStyle(parentOf(node) ?? node).direction === 'ltr') ? 'before' : 'after';
  }
  return box.top + box.bottom < of.top + of.bottom ? 'above' : 'below';
}

/** How far two boxes are from one another, in CSS pixels. */
function gapOf(one: Rect, other: Rect): number {
  return Math.max(one.left - other.right, other.left - one.right, one.top - other.bottom, other.top - one.bottom);
}

/** Whether two boxes are drawn over one another, by most of the smaller one. */
function isOver(one: Rect, other: Rect): boolean {
  const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  const smaller = Math.min(one.width * one.height, other.width * other.height);
  return width > 0 && height > 0 && width * height > smaller / 2;
}

/** Where a text is drawn; null for nowhere. */
function placeOf(node: Node): Place | null {
  const range = document.createRange();
  range.selectNodeContents(node);
  const { left, top, right, bottom, width, height } = range.getBoundingClientRect();
  if (width === 0 || height === 0) return null;
  const text = { left, top, right, bottom, width, height };
  if (!isElement(node)) return { text, box: text };
  const own = rectOf(node);
  const holds =
    own.left <= left + TOUCH && own.right >= right - TOUCH && own.top <= top + TOUCH && own.bottom >= bottom - TOUCH;
  // The column of the labels is as wide as the longest of them.
  return { text, box: holds ? { ...text, left: own.left, right: own.right, width: own.width } : text };
}

/** Whether something is drawn where another box than the one around it says, as a popup, which comes and goes. */
function isPlacedElsewhere(node: Node, sibling: Element): boolean {
  if (!isElement(node)) return false;
  const around = parentOf(sibling);
  if (isPlacedOutside(node, around)) return true;
  // A popup may stand in a box of no size.
  const { width, height } = rectOf(node);
  if (width > 0 && height > 0) return false;
  return [...node.querySelectorAll('*')].some((part) => isPlacedOutside(part, around));
}

function isPlacedOutside(element: Element, around: Element | null): boolean {
  const { position } = getComputedStyle(element);
  if (position === 'fixed') return true;
  if (position !== 'absolute') return false;
  const holder = (element as Partial<HTMLElement>).offsetParent ?? null;
  return holder === null || isHtml(holder, 'body') || around === null || !around.contains(holder);
}

function isUnread(element: Element): boolean {
  if (/^(script|style|template)$/.test(element.localName)) return true;
  // Line numbers, arrows: what is not read out names nothing.
  if (element.getAttribute('aria-hidden') === 'true') return true;
  if (!element.checkVisibility({ opacityProperty: true })) return true;
  return element.matches(PASSING) || element.querySelector(PASSING) !== null;
}

function isToolbar(element: Element): boolean {
  return roleOf(element) === 'toolbar' || /(?:^|[-_\s])toolbar/i.test(element.getAttribute('class') ?? '');
}

/** Whether a list is that of what is chosen in the only field in it. */
function holdsOneField(element: Element): boolean {
  return /^[uo]l$/.test(element.localName) && element.querySelectorAll('input, select, textarea').length === 1;
}

/** Whether an element is all that a slider is drawn of: text is beside that, wherever its thumb stands. */
function isTrack(element: Element, slider: Element): boolean {
  return element !== slider && roleOf(slider) === 'slider' && !/\p{L}/u.test(element.textContent ?? '');
}

/** Whether the Tab key stops at an element or in it. */
function holdsStop(element: Element): boolean {
  return element.matches(TAB_STOP) || element.querySelector(TAB_STOP) !== null;
}

export function labelText(text: string): string {
  const label = foldSpace(text).replace(/[\s:*]+$/, '');
  return label.length <= MAX_LABEL && /[\p{L}\p{N}]/u.test(label) ? label : '';
}

export function holdsControl(element: Element): boolean {
  return element.querySelector('input:not([type=hidden]), select, textarea, button, [contenteditable]') !== null;
}

/** Whether in an element another field is drawn than the one that is asked for, which would be called by the same text. */
function holdsOther(around: Element, element: Element): boolean {
  let found = false;
  walk(around, true, (one) => {
    if (found || one === element) return undefined;
    found = asksForName(one) && !isInside(element, one) && !isTwin(one, element) && !isOutOfSight(one);
    return true;
  });
  return found;
}

function asksForName(element: Element): boolean {
  if (isField(element)) return !/^(button|hidden|image|reset|submit)$/.test(element.type);
  const role = roleOf(element);
  return CHECKED.has(role) || NAMED_FROM_OUTSIDE.has(role) || isEditingHost(element);
}

/** The two thumbs of one slider. */
function isTwin(one: Element, other: Element): boolean {
  return roleOf(one) === 'slider' && roleOf(other) === 'slider' && parentOf(one) === parentOf(other);
}

export function isOutOfSight(element: Element): boolean {
  const rect = element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) ? drawnRect(element) : null;
  return rect === null || rect.width <= 1 || rect.height <= 1;
}
