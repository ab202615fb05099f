import type { TreeRow } from '../../data/tree-rows.js';

/** Where a dragged line would go. */
export interface DropPlace {
  readonly parent: string | null;
  readonly index: number;
  /** The folder that would contain it; null if it goes between two lines. */
  readonly inside: string | null;
  /** The line above which the mark is drawn, and its indent. */
  readonly line: number;
  readonly depth: number;
}

/**
 * @param at how many lines from the top the pointer is; the middle of a folder's line is the folder itself
 * @param dragged the dragged item, which cannot go into itself
 */
export function dropPlace(rows: readonly TreeRow[], at: number, dragged: string): DropPlace | null {
  const line = Math.max(0, Math.min(rows.length - 1, Math.floor(at)));
  const row = rows[line];
  if (row === undefined || isWithin(rows, line, dragged)) return null;
  const part = at - line;
  if (row.open !== null && part > 0.3 && part < 0.7) {
    return { parent: row.item.id, index: row.item.children.length, inside: row.item.id, line, depth: row.depth + 1 };
  }
  if (part < 0.5) return { parent: row.parent, index: row.index, inside: null, line, depth: row.depth };
  // Below the line of an open folder is the first position in it.
  if (row.open === true) return { parent: row.item.id, index: 0, inside: null, line: line + 1, depth: row.depth + 1 };
  return { parent: row.parent, index: row.index + 1, inside: null, line: line + 1, depth: row.depth };
}

function isWithin(rows: readonly TreeRow[], line: number, dragged: string): boolean {
  let id: string | null | undefined = rows[line]?.item.id;
  while (id !== null && id !== undefined) {
    if (id === dragged) return true;
    const own: string = id;
    id = rows.find(({ item }) => item.id === own)?.parent;
  }
  return false;
}
