import { roleOf } from '../names/roles.js';
import { boardIn } from '../tree/board.js';
import { childrenOf } from '../tree/form-members.js';
import { isSortable } from './clickables.js';
import { holdsControls } from './wrappers.js';

/** A listener on one of these is for each thing in it. */
const LISTS = new Set(['list', 'listbox', 'grid', 'rowgroup', 'menu', 'tree']);
const CELLS = '[role="gridcell"], [role="columnheader"], [role="rowheader"]';
/** So many children of one kind make a list of what holds them. */
const MIN_ITEMS = 3;
/** The days of a week. */
const MIN_CELLS = 7;
/** Six weeks. */
const MAX_DAYS = 42;
/** Larger parts of a page are no board of cells. */
const MAX_ELEMENTS = 500;
/** So much of a list's children may be of another kind. */
const FEW = 0.2;
/** Characters in a field of a game: a sign, a number. */
const MAX_FIELD_TEXT = 4;
/** Characters of a cell's text: a day, a colour, a sign. */
const MAX_CELL_TEXT = 12;
/** Elements that a cell is made of. */
const MAX_CELL_PARTS = 5;

/** The items that a listener on what holds them is for; none if it is for the element itself. */
export function itemsOf(element: Element): readonly Element[] {
  if (isSortable(element)) return [...childrenOf(element)];
  const fields = fieldsOf(element);
  if (fields.length > 0) return fields;
  const { localName } = element;
  const children = childrenOf(element);
  const cells = element.querySelectorAll(CELLS);
  if (cells.length > 0) return holdsControls(element) ? [] : [...cells];
  switch (localName) {
    case 'ul':
    case 'ol':
    case 'tbody':
      return holdsControls(element) ? [] : (daysOf(element) ?? [...children]);
    case 'table':
      return holdsControls(element) ? [] : (daysOf(element) ?? [...element.querySelectorAll(':scope > tbody > tr')]);
    default:
  }
  const enough = children.length >= MIN_ITEMS || (children.length > 0 && LISTS.has(roleOf(element)));
  // The weeks of a month are alike, too; but a person presses the days.
  const board = cellsIn(element);
  const items = board.length === 0 && enough && areMostlyAlike(children) ? [...children] : board;
  if (items.length === 0 || !holdsControls(element)) return items;
  // The events of a month listen, too. One row of cells may be the heads of days that are buttons.
  return board.length >= MIN_CELLS * 2 && !board.some(holdsControls) ? board : [];
}

/** The boxes of a board of which some are empty, such as the fields of a game. */
function fieldsOf(element: Element): readonly Element[] {
  const table = element.localName === 'table' ? element.querySelector(':scope > tbody') : null;
  const board = boardIn(table ?? element);
  if (board === null || holdsControls(element)) return [];
  const texts = board.boxes.map(({ textContent }) => textContent.trim());
  return texts.includes('') && texts.every(({ length }) => length <= MAX_FIELD_TEXT) ? board.boxes : [];
}

/**
 * The days of a calendar, or whatever else stands in a board: short texts, all alike, beside their own heads. Rows of one
 * kind make one board.
 */
function cellsIn(element: Element): readonly Element[] {
  if (element.childElementCount === 0 || element.getElementsByTagName('*').length > MAX_ELEMENTS) return [];
  const boards = new Map<string, Element[]>();
  for (const row of element.querySelectorAll('div, ul, ol')) {
    const children = childrenOf(row);
    if (children.length < MIN_CELLS || !areAlike(children) || ![...children].every(isCell)) continue;
    const kind = [row, children[0]].map((one) => `${one?.localName} ${one?.classList[0]}`).join();
    boards.set(kind, [...(boards.get(kind) ?? []), ...children]);
  }
  return [...boards.values()].reduce((most, board) => (board.length > most.length ? board : most), []);
}

/** The days of a month that is a table: cells that count up, a week in a row; null where it is another table. */
function daysOf(table: Element): readonly Element[] | null {
  const cells = [...table.querySelectorAll('td')].filter(({ textContent }) => textContent.trim() !== '');
  if (cells.length < MIN_CELLS * 2 || cells.length > MAX_DAYS) return null;
  const weeks = [...table.querySelectorAll('tr')].map((row) => row.querySelectorAll('td').length);
  if (!weeks.includes(MIN_CELLS) || weeks.some((days) => days > MIN_CELLS)) return null;
  const days = cells.map(({ textContent }) => Number(textContent));
  // After the last day of a month comes the first of the next one.
  return days.every((day, nth) => nth === 0 || day === 1 || day === Number(days[nth - 1]) + 1) ? cells : null;
}

function isCell(element: Element): boolean {
  const short = (element.textContent?.trim().length ?? 0) <= MAX_CELL_TEXT;
  return short && element.getElementsByTagName('*').length <= MAX_CELL_PARTS && element.checkVisibility();
}

/** Whether all children are of one kind, but for a few that stand among them: an event in the hours of a day. */
function areMostlyAlike(elements: HTMLCollection): boolean {
  const kindOf = ({ localName, classList }: Element): string => `${localName} ${classList[0]}`;
  const kinds = [...elements].map(kindOf);
  const others = kinds.filter((kind) => kind !== kinds[0]).length;
  return others <= elements.length * FEW && [...elements].every(({ textContent }) => textContent?.trim() !== '');
}

function areAlike(elements: HTMLCollection): boolean {
  const first = elements[0];
  return [...elements].every(
    ({ localName, classList, textContent }) =>
      localName === first?.localName && classList[0] === first.classList[0] && textContent?.trim() !== '',
  );
}
