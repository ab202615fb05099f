import { shadowOf } from '../tree/flat-tree.js';

const SHOWN = NodeFilter.SHOW_TEXT | NodeFilter.SHOW_COMMENT;
/** Counted by the browser itself: a script that asks each text of a long page takes ten times as long. */
const TEXTS = 'count(descendant::text()[contains(., "<")]) + count(descendant::comment()[contains(., "<")])';
const NUMBER = 1;

/**
 * How many nodes the protocol's search for `<` finds in this document and those it reaches: every element, and each text
 * and comment with that letter. It finds more where a closed shadow root is there that this world was not handed.
 */
export function countNodes(): number {
  const roots: (Document | ShadowRoot)[] = [document];
  let count = 0;
  for (let root = roots.pop(); root !== undefined; root = roots.pop()) {
    const elements = root.querySelectorAll('*');
    count += elements.length + countTexts(root);
    for (let index = 0; index < elements.length; index++) {
      const shadow = shadowOf(elements[index] as Element);
      if (shadow !== null) roots.push(shadow);
    }
    for (const holder of root.querySelectorAll<HTMLObjectElement>('iframe, frame, object')) {
      const inner = documentIn(holder);
      if (inner !== null) roots.push(inner);
    }
  }
  return count;
}

function countTexts(root: Document | ShadowRoot): number {
  if ('documentElement' in root) {
    const { documentElement: top } = root;
    return top === null ? 0 : root.evaluate(TEXTS, top, null, NUMBER).numberValue;
  }
  // Shadow trees are no place for XPath.
  const texts = document.createTreeWalker(root, SHOWN);
  let count = 0;
  while (texts.nextNode() !== null) if (texts.currentNode.nodeValue?.includes('<') === true) count++;
  return count;
}

/** What a frame, or a picture that is a document, holds; null where it is out of reach. */
function documentIn(holder: HTMLObjectElement): Document | null {
  try {
    return holder.contentDocument;
  } catch {
    return null;
  }
}
