import type { TreeItem } from '../../protocol/request-window.js';

/** A rendered line of the tree. */
export interface TreeRow {
  readonly item: TreeItem;
  readonly depth: number;
  readonly parent: string | null;
  /** Its position among its siblings, and their number. */
  readonly index: number;
  readonly siblings: number;
  /** Null for requests. */
  readonly open: boolean | null;
}

/**
 * The visible lines: the content of open folders, or during a search the matches, with the folders above them. `found`
 * are requests whose content matches.
 */
export function rowsOf(
  items: readonly TreeItem[],
  isOpen: (id: string) => boolean,
  search: string,
  found: ReadonlySet<string>,
): TreeRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const rows: TreeRow[] = [];
  const visit = (list: readonly TreeItem[], depth: number, parent: string | null, above: string): boolean => {
    let any = false;
    list.forEach((item, index) => {
      const folder = item.method === null;
      const text = `${above} ${item.method ?? ''} ${item.name}`.toLowerCase();
      const own = words.every((word) => text.includes(word)) || (words.length > 0 && found.has(item.id));
      const open = folder ? words.length > 0 || isOpen(item.id) : null;
      const place = rows.length;
      rows.push({ item, depth, parent, index, siblings: list.length, open });
      const below = open === true && visit(item.children, depth + 1, item.id, text);
      if (own || below) any = true;
      else rows.length = place;
    });
    return any;
  };
  visit(items, 0, null, '');
  return rows;
}

/** An item and its position; undefined if it does not exist. */
export function placeOf(
  items: readonly TreeItem[],
  id: string,
  parent: string | null = null,
): { readonly item: TreeItem; readonly parent: string | null; readonly index: number } | undefined {
  for (const [index, item] of items.entries()) {
    if (item.id === id) return { item, parent, index };
    const below = placeOf(item.children, id, item.id);
    if (below !== undefined) return below;
  }
  return undefined;
}

export function countOf(items: readonly TreeItem[]): number {
  return items.reduce((sum, { children }) => sum + 1 + countOf(children), 0);
}
