import { isPane, isTag } from '../controls/carried.js';
import { foldSpace } from '../locator.js';
import { boardIn } from '../tree/board.js';
import { isElement, isHtml, parentOf } from '../tree/flat-tree.js';
import { childNodesIn, firstChildOf } from '../tree/form-members.js';
import { drawnRect } from '../tree/visibility.js';
import { accessibleName, drawnText } from './accessible-name.js';
import { besideName, CHECKED, holdsControl, isCell, isOutOfSight, labelText } from './beside-name.js';
import { attributeWords, hrefWord, iconWords, nearWords } from './icon-words.js';
import { inputKind, isControl, isField, NAMED_FROM_OUTSIDE, roleOf } from './roles.js';
import { rowName } from './row-name.js';

const MAX_UP_TO_FIELD = 3;
/** What is a part of a field is drawn in it, or so near beside it, in CSS pixels. */
const MAX_GAP_TO_FIELD = 48;
/** So few characters are a sign; more are a drawing made of them. */
const MAX_SIGN = 4;

const THUMB_CLASS = /(?:^|\s)([a-z][a-z\d]*)(?:[-_]+[a-z\d]+)*[-_]+(handle|thumb|knob)(?=\s|$)/i;

/**
 * What a person would call a control: its accessible name, and where the page gives none, what is drawn around it. A field has
 * the headers of its row and column, the text beside it, or its drawn placeholder; an icon the word of its picture, class or
 * address, with what its row begins with. Empty where there is nothing of that.
 */
export function personalName(element: Element): string {
  if (isNamelessPane(element)) return attributeWords(element) || nearWords(element);
  if (isTag(element)) return foldSpace(element.textContent ?? '');
  const name = accessibleName(element);
  if (name !== '' && isMask(element, name)) return fieldName(element) || name;
  if (name !== '') return isSign(element, name) ? signName(element, name) : name;
  switch (element.localName) {
    case 'area':
    case 'audio':
    case 'video':
    case 'canvas':
      return '';
    default:
      if (isFilledIn(element)) return innerFieldName(element) || fieldName(element);
      return headText(element) || hiddenFieldName(element) || cellName(element) || iconName(element);
  }
}

/** A surface that is moved by dragging is not called by what is on it. */
function isNamelessPane(element: Element): boolean {
  if (element.childElementCount === 0 || isControl(element)) return false;
  if (['aria-label', 'aria-labelledby', 'title'].some((name) => element.hasAttribute(name))) return false;
  if (element.querySelector('a, button, input, select, textarea, [role], [tabindex]') === null) return false;
  return isPane(element, getComputedStyle(element).cursor);
}

/** A star, a cross or a handle that a page draws by a character, on an element that means nothing by itself. */
function isSign(element: Element, name: string): boolean {
  return name.length <= MAX_SIGN && !/[\p{L}\p{N}]/u.test(name) && /^(span|i|b|div|em|strong)$/.test(roleOf(element));
}

function signName(element: Element, sign: string): string {
  const title = foldSpace(element.getAttribute('title') ?? '');
  const row = rowName(element);
  return foldSpace(`${title === '' || title === sign ? sign : title} ${title.includes(row) ? '' : row}`);
}

/** A placeholder that shows how a date, a time or a number is written: `dd/mm/yyyy`. */
function isMask(element: Element, name: string): boolean {
  return name === element.getAttribute('placeholder') && /^(?:[dmyhs_#0-9]|[^\p{L}\p{N}]|jj|aa|tt)+$/iu.test(name);
}

/** A combobox without a name that is drawn around a field is called as the field is. */
function innerFieldName(element: Element): string {
  if (isField(element) || !NAMED_FROM_OUTSIDE.has(roleOf(element))) return '';
  const [field, ...others] = element.querySelectorAll('input:not([type=hidden]), textarea');
  if (field === undefined || others.length > 0) return '';
  return accessibleName(field);
}

/** What is drawn in the place of a field that its page has put away is called as that: around the only one, or beside it. */
function hiddenFieldName(element: Element): string {
  const [inner, ...others] = element.querySelectorAll('input[type="checkbox"], input[type="radio"]');
  if (inner !== undefined) {
    if (others.length > 0) return '';
    return accessibleName(inner);
  }
  if (element.localName !== 'button' && roleOf(element) !== 'button') return '';
  let node = element;
  for (let up = 0; up < MAX_UP_TO_FIELD; up++) {
    const around = parentOf(node);
    if (around === null) return '';
    for (const field of [node.previousElementSibling, node.nextElementSibling]) {
      if (field === null || !isHtml(field, 'select') || !isOutOfSight(field)) continue;
      return accessibleName(field);
    }
    if (around.childElementCount > 1 && up > 0) return '';
    node = around;
  }
  return '';
}

/** An empty cell is called by its row and its column. */
function cellName(element: Element): string {
  return isCell(element) ? headerName(element) || ariaHeaderName(element) : '';
}

/** The text of a column's head, which may hold a filter's field beside it. */
function headText(element: Element): string {
  if (!/^(columnheader|rowheader)$/.test(roleOf(element))) return '';
  return labelText(drawnText(element));
}

function isFilledIn(element: Element): boolean {
  const role = roleOf(element);
  if (CHECKED.has(role) || NAMED_FROM_OUTSIDE.has(role)) return true;
  const button = isHtml(element, 'input') && /^(button|image|reset|submit)$/.test(element.type);
  return !button && (isField(element) || inputKind(element) === 'typed');
}

function fieldName(element: Element): string {
  return (
    headerName(element) ||
    ariaHeaderName(element) ||
    placeholderOf(element) ||
    besideName(element) ||
    writtenPlaceholder(element)
  );
}

function iconName(element: Element): string {
  const thumb = thumbName(element);
  if (thumb !== '') return thumb;
  const word = iconWords(element) || attributeWords(element) || hrefWord(element);
  const place = word === '' ? boardName(element) : '';
  if (place !== '') return place;
  // A class that is no word for a picture only tells how a library calls the part.
  const whose = rowName(element) || ownFieldName(element);
  return foldSpace(`${word} ${whose}`) || gripName(element) || nearWords(element);
}

/** The field that an icon is a part of, which keys do not reach: the arrows of a number, the eye of a password. */
function ownFieldName(element: Element): string {
  const { tabIndex = -1 } = element as Partial<HTMLElement>;
  if (tabIndex >= 0) return '';
  let around = parentOf(element);
  for (let up = 0; around !== null && up < MAX_UP_TO_FIELD; up++, around = parentOf(around)) {
    const [field, ...others] = around.querySelectorAll('input:not([type=hidden]), select, textarea');
    if (field === undefined) continue;
    const isOnly = others.length === 0 && inputKind(field) === 'typed';
    if (!isOnly || !isDrawnAt(element, field)) return '';
    const name = personalName(field);
    const text = foldSpace(around.textContent ?? '');
    return text === '' || text.startsWith(name) ? name : '';
  }
  return '';
}

/** Whether something is drawn in a field, or right beside it. */
function isDrawnAt(element: Element, field: Element): boolean {
  const [own, box] = [drawnRect(element), drawnRect(field)];
  if (own === null || box === null) return false;
  const middle = (own.top + own.bottom) / 2;
  const gap = Math.max(box.left - own.right, own.left - box.right);
  return middle >= box.top && middle <= box.bottom && gap <= MAX_GAP_TO_FIELD;
}

/** An empty field of a board has no other name than its place. */
function boardName(element: Element): string {
  if (childNodesIn(element).length > 0 || isControl(element)) return '';
  for (let around = parentOf(element), up = 0; around !== null && up < 2; around = parentOf(around), up++) {
    const board = boardIn(around);
    const at = board?.boxes.indexOf(element) ?? -1;
    if (board === null || at === -1) continue;
    return `row ${Math.floor(at / board.columns) + 1} column ${(at % board.columns) + 1}`;
  }
  return '';
}

/** A grip by whose cursor a box is made larger or smaller: at which of its edges it stands. */
function gripName(element: Element): string {
  const around = parentOf(element);
  if (around === null || !/-resize$/.test(getComputedStyle(element).cursor)) return '';
  const [own, outer] = [drawnRect(element), drawnRect(around)];
  if (own === null || outer === null) return '';
  const side = (at: number, from: number, to: number, low: string, high: string): string =>
    at < from + (to - from) / 4 ? low : at > to - (to - from) / 4 ? high : '';
  const down = side((own.top + own.bottom) / 2, outer.top, outer.bottom, 'top', 'bottom');
  const across = side((own.left + own.right) / 2, outer.left, outer.right, 'left', 'right');
  return down === '' && across === '' ? '' : foldSpace(`resize ${down} ${across}`);
}

/** What a slider's thumb is moved for is written beside all that its library draws: `<span class=x><span class=x-handle>`. */
function thumbName(element: Element): string {
  const [, prefix, part] = THUMB_CLASS.exec(element.getAttribute('class') ?? '') ?? [];
  if (prefix === undefined || part === undefined) return '';
  let whole = element;
  const isPart = (one: string): boolean =>
    one === prefix || one.startsWith(`${prefix}-`) || one.startsWith(`${prefix}_`);
  for (let node = parentOf(element); node !== null && [...node.classList].some(isPart); node = parentOf(node))
    whole = node;
  if (whole === element) return '';
  const label = besideName(whole);
  const which = [...element.classList].find((one) => /^(?:from|to|lower|upper|min|max|start|end|low|high)$/.test(one));
  return label === '' ? '' : foldSpace(`${label} ${which ?? ''} ${part}`);
}

/** Of the row and of the column of a table that a field stands in. */
function headerName(element: Element): string {
  const cell = element.closest('td, th');
  const table = cell?.closest('table');
  if (!isElement(cell) || table === null || table === undefined) return '';
  const row = cell.parentElement;
  const place = row === null ? -1 : [...row.children].indexOf(cell);
  const head = table.querySelector(':scope > thead > tr:last-child') ?? table.querySelector('tr');
  const spans = head?.querySelector('[colspan]') !== null;
  const column = spans || head === row ? undefined : head?.children[place];
  const across = row?.querySelector(':scope > th') ?? (place > 0 ? row?.firstElementChild : undefined);
  const isHead = isElement(column) && (column.localName === 'th' || column.closest('thead') !== null);
  const top = isHead ? labelText(drawnText(column)) : '';
  if (top === '' && across?.localName !== 'th') return '';
  const side = across && across !== cell && !holdsControl(across) ? labelText(drawnText(across)) : '';
  return foldSpace(`${side} ${top}`);
}

/** Of the column of a grid whose cells say by number which one they stand in, with what the row begins with. */
function ariaHeaderName(element: Element): string {
  const cell = element.closest('[aria-colindex]');
  const grid = cell?.closest('[role="grid"], [role="treegrid"], [role="table"]') ?? null;
  if (!isElement(cell) || grid === null) return '';
  const number = CSS.escape(cell.getAttribute('aria-colindex') ?? '');
  const head = grid.querySelector(`[role="columnheader"][aria-colindex="${number}"]`);
  if (head === null || head === cell || holdsControl(head)) return '';
  const column = labelText(accessibleName(head));
  return column === '' ? '' : foldSpace(`${rowName(element)} ${column}`);
}

/** What a style draws in an empty field. */
function placeholderOf(element: Element): string {
  for (const one of [element, firstChildOf(element)]) {
    if (one === null) continue;
    const named = one.getAttribute('data-placeholder') || drawnByStyle(one, '::before') || drawnByStyle(one, '::after');
    if (named !== '') return foldSpace(named);
  }
  return '';
}

/** What a drop-down without a field shows until something is chosen, in an element that is classed as that. */
function writtenPlaceholder(element: Element): string {
  const drawn = isField(element) ? null : element.querySelector('[class*="placeholder"]');
  return drawn !== null && drawn.childElementCount === 0 && drawn.checkVisibility() ? labelText(drawnText(drawn)) : '';
}

function drawnByStyle(element: Element, part: '::before' | '::after'): string {
  const text = /^"(.*)"$/s.exec(getComputedStyle(element, part).content)?.[1] ?? '';
  return /\p{L}/u.test(text) ? text : '';
}
