import { roleOf } from '../names/roles.js';
import { isSortable } from './clickables.js';
import { holdsControls } from './wrappers.js';

/** A listener on one of these is for each thing in it. */
const LISTS = new Set(['list', 'listbox', 'grid', 'rowgroup', 'menu', 'tree']);
const CELLS = '[role="gridcell"], [role="columnheader"], [role="rowheader"]';
/** So many children of one kind make a list of what holds them. */
const MIN_ITEMS = 3;
/** The days of a week. */
const MIN_CELLS = 7;
/** Larger parts of a page are no board of cells. */
const MAX_ELEMENTS = 500;
/** Characters of a cell's text: a day, a colour, a sign. */
const MAX_CELL_TEXT = 12;
/** Elements that a cell is made of. */
const MAX_CELL_PARTS = 5;

/** The items that a listener on what holds them is for; none if it is for the element itself. */
export function itemsOf(element: Element): readonly Element[] {
  if (isSortable(element)) return [...element.children];
  const { localName, children } = element;
  const cells = element.querySelectorAll(CELLS);
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
  const enough = children.length >= MIN_ITEMS || (children.length > 0 && LISTS.has(roleOf(element)));
  // The weeks of a month are alike, too; but a person presses the days.
  const board = cellsIn(element);
  const items = board.length === 0 && enough && areAlike(children) ? [...children] : board;
  if (items.length === 0 || !holdsControls(element)) return items;
  // The events of a month listen, too. One row of cells may be the heads of days that are buttons.
  return board.length >= MIN_CELLS * 2 && !board.some(holdsControls) ? board : [];
}

/**
 * The days of a calendar, or whatever else stands in a board: short texts, all alike, beside their own heads. Rows of one
 * kind make one board.
 */
function cellsIn(element: Element): readonly Element[] {
  if (element.childElementCount === 0 || element.getElementsByTagName('*').length > MAX_ELEMENTS) return [];
  const boards = new Map<string, Element[]>();
  for (const row of element.querySelectorAll('div, ul, ol')) {
    const { children } = row;
    if (children.length < MIN_CELLS || !areAlike(children) || ![...children].every(isCell)) continue;
    const kind = [row, children[0]].map((one) => `${one?.localName} ${one?.classList[0]}`).join();
    boards.set(kind, [...(boards.get(kind) ?? []), ...children]);
  }
  return [...boards.values()].reduce((most, board) => (board.length > most.length ? board : most), []);
}

function isCell(element: Element): boolean {
  const short = (element.textContent?.trim().length ?? 0) <= MAX_CELL_TEXT;
  return short && element.getElementsByTagName('*').length <= MAX_CELL_PARTS && element.checkVisibility();
}

function areAlike(elements: HTMLCollection): boolean {
  const first = elements[0];
  return [...elements].every(
    ({ localName, classList, textContent }) =>
      localName === first?.localName && classList[0] === first.classList[0] && textContent?.trim() !== '',
  );
}
