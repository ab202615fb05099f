import type { CollectionNode } from './collection.js';

/** Finds a folder or request by its name, or by its path with slashes; the first in the collection's order. */
export function findItem(nodes: readonly CollectionNode[], wanted: string, prefix = ''): CollectionNode | undefined {
  for (const node of nodes) {
    const path = `${prefix}${node.name}`;
    if (node.name === wanted || path === wanted) return node;
    const below = findItem(node.children, wanted, `${path}/`);
    if (below !== undefined) return below;
  }
  return undefined;
}
