import { shadowOf } from './flat-tree.js';

const ELEMENT = 1;
const DOCUMENT = 9;
const SHOWN = NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT | NodeFilter.SHOW_COMMENT;

/**
 * How many nodes the protocol's search for `<` finds in this document and those it reaches: every element, and each text
 * and comment with that letter. It finds more where a closed shadow root is there that this world was not handed.
 */
export function countNodes(): number {
  const roots: Node[] = [document];
  let count = 0;
  for (let root = roots.pop(); root !== undefined; root = roots.pop()) {
    const top = root.nodeType === DOCUMENT ? (root as Document).documentElement : root;
    if (top === null) continue;
    const nodes = document.createTreeWalker(top, SHOWN);
    for (let node: Node | null = nodes.currentNode; node !== null; node = nodes.nextNode()) {
      if (node.nodeType !== ELEMENT) {
        if (node.nodeValue?.includes('<') === true) count++;
        continue;
      }
      count++;
      const element = node as Element;
      const inside = shadowOf(element) ?? documentIn(element);
      if (inside !== null) roots.push(inside);
    }
  }
  return count;
}

/** What a frame, or a picture that is a document, holds; null where it is out of reach. */
function documentIn(element: Element): Document | null {
  try {
    return (element as Partial<HTMLObjectElement>).contentDocument ?? null;
  } catch {
    return null;
  }
}
