import type { CollectionNode, CollectionPath } from '../engine/collection/collection.js';
import { COLLECTION_ID } from '../protocol/request-window.js';

/**
 * Ids for the items of a collection that do not change when items move, unlike paths. Every edit of the collection must
 * be reported here. Immutable, like the collection.
 */
export class ItemIds {
  readonly #paths: ReadonlyMap<string, CollectionPath>;
  readonly #ids: ReadonlyMap<string, string>;
  readonly #next: number;

  private constructor(paths: ReadonlyMap<string, CollectionPath>, next: number) {
    this.#paths = paths;
    this.#ids = new Map([...paths].map(([id, path]) => [path.join('.'), id]));
    this.#next = next;
  }

  static of(nodes: readonly CollectionNode[]): ItemIds {
    return new ItemIds(new Map(), 1).completed(nodes);
  }

  pathOf(id: string): CollectionPath | undefined {
    return id === COLLECTION_ID ? [] : this.#paths.get(id);
  }

  idOf(path: CollectionPath): string | undefined {
    if (path.length === 0) return COLLECTION_ID;
    return this.#ids.get(path.join('.'));
  }

  /** Gives an id to every item without one. */
  completed(nodes: readonly CollectionNode[]): ItemIds {
    const paths = new Map(this.#paths);
    let next = this.#next;
    const visit = (node: CollectionNode): void => {
      if (this.idOf(node.path) === undefined) paths.set(`i${next++}`, node.path);
      node.children.forEach(visit);
    };
    nodes.forEach(visit);
    return new ItemIds(paths, next);
  }

  /** These ids again (for undo); new items get no id that `later` has already used. */
  revived(later: ItemIds): ItemIds {
    return new ItemIds(this.#paths, later.#next);
  }

  /** An item was inserted at `path`. */
  inserted(path: CollectionPath): ItemIds {
    return this.#mapped((own) => shifted(own, path, 1));
  }

  /** The item at `path` was removed, with its content. */
  removed(path: CollectionPath): ItemIds {
    return this.#mapped((own) => (startsWith(own, path) ? null : shifted(own, path, -1)));
  }

  /** The item at `from` was removed and inserted at `to`, which counts without it. */
  moved(from: CollectionPath, to: CollectionPath): ItemIds {
    return this.#mapped((own) => {
      if (startsWith(own, from)) return [...to, ...own.slice(from.length)];
      return shifted(shifted(own, from, -1), to, 1);
    });
  }

  #mapped(change: (path: CollectionPath) => CollectionPath | null): ItemIds {
    const paths = new Map<string, CollectionPath>();
    for (const [id, path] of this.#paths) {
      const changed = change(path);
      if (changed !== null) paths.set(id, changed);
    }
    return new ItemIds(paths, this.#next);
  }
}

export function startsWith(path: CollectionPath, start: CollectionPath): boolean {
  return start.every((part, index) => path[index] === part);
}

/** The new path of an item after an element was inserted or removed at `at`. */
export function shifted(path: CollectionPath, at: CollectionPath, by: 1 | -1): CollectionPath {
  const last = at.length - 1;
  const [own, place] = [path[last], at[last]];
  if (typeof own !== 'number' || typeof place !== 'number' || !startsWith(path, at.slice(0, last))) return path;
  return (by === 1 ? own >= place : own > place) ? path.with(last, own + by) : path;
}
