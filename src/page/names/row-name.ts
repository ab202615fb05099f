import { foldSpace } from '../locator.js';
import { onlyText, parentOf, walk } from '../tree/flat-tree.js';
import { childNodesIn, childrenOf } from '../tree/form-members.js';
import { isSolid } from '../tree/visibility.js';
import { roleOf } from './roles.js';

/** A row is found so far up, in levels of the tree. */
const MAX_ROW_UP = 7;
/** A longer text of a row is cut. */
const MAX_ROW = 40;
const ROWS = new Set(['row', 'listitem', 'option', 'treeitem', 'tab', 'article', 'menuitem']);

/** What the row begins with that a control stands in; empty for one that stands in none. */
export function rowName(element: Element): string {
  let row = parentOf(element);
  for (let up = 0; row !== null && up < MAX_ROW_UP; up++, row = parentOf(row)) {
    if (row.localName === 'body') return '';
    if (isRow(row)) return firstText(row, element);
    if (isPlainRow(row, element)) return firstText(row, element);
  }
  return '';
}

function isRow(element: Element): boolean {
  const { localName, parentElement } = element;
  if (localName === 'li' || localName === 'tr' || ROWS.has(roleOf(element))) return true;
  const [kind] = element.classList;
  if (parentElement === null || kind === undefined) return false;
  const twin = [...childrenOf(parentElement)].some(
    (other) => other !== element && other.localName === localName && other.classList[0] === kind,
  );
  return twin && foldSpace(element.textContent ?? '') !== '';
}

/** One of several of a kind without a class, each of which begins with a part like the control: a sign to carry it by. */
function isPlainRow(row: Element, control: Element): boolean {
  const { parentElement } = row;
  if (row.classList.length > 0 || control.parentElement !== row || parentElement === null) return false;
  const twins = [...childrenOf(parentElement)];
  if (twins.length < 2) return false;
  return twins.every(
    ({ localName, classList, firstElementChild: first }) =>
      localName === row.localName &&
      classList.length === 0 &&
      first?.localName === control.localName &&
      first.className === control.className,
  );
}

function firstText(row: Element, control: Element): string {
  let text = '';
  walk(row, true, (element) => {
    if (text !== '' || element === control || !isSolid(element)) return undefined;
    const own = onlyText(element) ?? ownText(element);
    if (/[\p{L}\p{N}]/u.test(own)) text = foldSpace(own);
    return text === '' ? true : undefined;
  });
  if (text.length <= MAX_ROW) return text;
  return text.slice(0, text.lastIndexOf(' ', MAX_ROW) > 0 ? text.lastIndexOf(' ', MAX_ROW) : MAX_ROW);
}

function ownText(element: Element): string {
  let text = '';
  for (const node of childNodesIn(element)) if (node.nodeType === 3) text += node.nodeValue ?? '';
  return text;
}
