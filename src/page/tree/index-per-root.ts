/** The elements under a key in the document or shadow root that `inside` is in, in the order in which they were added. */
type Index<K, E> = (inside: Element, key: K) => readonly E[];

/**
 * An index that one search of a document or shadow root makes for all that is in it: whoever asks for each of many
 * elements would search as often. Known for the length of one turn, in which nothing changes.
 */
export function indexPerRoot<K, E extends Element>(
  search: (root: ParentNode, add: (key: K, element: E) => void) => void,
): Index<K, E> {
  let byRoot: Map<Node, Map<K, E[]>> | undefined;
  const made = (root: Node): Map<K, E[]> => {
    const index = new Map<K, E[]>();
    // An element's root is a document, a fragment or an element.
    search(root as Node & ParentNode, (key, element) => {
      const list = index.get(key);
      if (list === undefined) index.set(key, [element]);
      else list.push(element);
    });
    return index;
  };
  return (inside, key) => {
    if (byRoot === undefined) {
      byRoot = new Map();
      queueMicrotask(() => {
        byRoot = undefined;
      });
    }
    const root = inside.getRootNode();
    let index = byRoot.get(root);
    if (index === undefined) {
      index = made(root);
      byRoot.set(root, index);
    }
    return index.get(key) ?? [];
  };
}
