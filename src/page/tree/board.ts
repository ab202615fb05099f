import { childrenOf } from './form-members.js';
import { drawnRect } from './visibility.js';

/** Fewer boxes are no board. */
const MIN_BOXES = 4;
const MAX_BOXES = 400;
/** Boxes of a board are as large as one another, up to this in CSS pixels, and at least so large. */
const SAME_PX = 2;
const MIN_PX = 12;

/** Boxes of one kind and size, in rows and columns: the fields of a game, colours to choose from. */
export interface Board {
  readonly boxes: readonly Element[];
  readonly columns: number;
}

/** The board that an element's children make, or theirs, if each of them is a row of it; null for anything else. */
export function boardIn(element: Element): Board | null {
  const rows = [...childrenOf(element)];
  const inner = rows.flatMap((row) => [...childrenOf(row)]);
  const width = rows[0]?.childElementCount ?? 0;
  const inRows = rows.length > 1 && width > 1 && rows.every((row) => row.childElementCount === width);
  return boardOf(rows) ?? (inRows ? boardOf(inner) : null);
}

function boardOf(boxes: readonly Element[]): Board | null {
  const [first] = boxes;
  if (first === undefined || boxes.length < MIN_BOXES || boxes.length > MAX_BOXES) return null;
  if (boxes.some(({ localName, childElementCount }) => localName !== first.localName || childElementCount > 1))
    return null;
  const rects = boxes.map(drawnRect);
  const [corner] = rects;
  if (corner === undefined || corner === null || Math.min(corner.width, corner.height) < MIN_PX) return null;
  const alike = rects.every(
    (rect) =>
      rect !== null &&
      Math.abs(rect.width - corner.width) <= SAME_PX &&
      Math.abs(rect.height - corner.height) <= SAME_PX,
  );
  if (!alike) return null;
  const columns = rects.filter((rect) => rect !== null && Math.abs(rect.top - corner.top) <= SAME_PX).length;
  return columns > 1 && columns < boxes.length && boxes.length % columns === 0 ? { boxes, columns } : null;
}
