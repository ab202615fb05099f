import { childNodesOf, isElement, shadowOf } from '../tree/flat-tree.js';

/** Further text is not read. */
const MAX_TEXT = 1_000_000;
const UNREAD = new Set(['script', 'style', 'template', 'noscript', 'head']);

/**
 * The text that is drawn in an element, in its lines, that of shadow roots among it: `innerText`, which leaves those out. At
 * most a million characters.
 */
export function flatText(element: Element): string {
  const parts: string[] = [];
  if (!holdsShadow(element)) return innerText(element);
  let length = 0;
  const read = (node: Node): void => {
    if (length > MAX_TEXT) return;
    if (node.nodeType === 3) {
      const { parentElement } = node;
      const shown = parentElement === null || getComputedStyle(parentElement).visibility === 'visible';
      if (shown) add((node.nodeValue ?? '').replace(/\s+/g, ' '));
      return;
    }
    if (!isElement(node) || UNREAD.has(node.localName)) return;
    if (node.localName === 'br') {
      add('\n');
      return;
    }
    const { display } = getComputedStyle(node);
    if (display === 'none') return;
    const line = node.localName === 'p' ? '\n\n' : /^(inline|contents)/.test(display) ? '' : '\n';
    const apart = display === 'table-cell' ? '\t' : line;
    add(apart);
    if (holdsShadow(node) || node.localName === 'slot') for (const child of childNodesOf(node)) read(child);
    else add(innerText(node));
    add(apart);
  };
  const add = (text: string): void => {
    parts.push(text);
    length += text.length;
  };
  for (const child of childNodesOf(element)) read(child);
  return parts
    .join('')
    .replace(/[ \t]*\n[ \t]*/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/ {2,}/g, ' ')
    .trim();
}

function innerText(element: Element): string {
  // biome-ignore lint/performance/useDomNodeTextContent: only what is drawn, in its lines
  return (element as Partial<HTMLElement>).innerText?.trim() ?? '';
}

function holdsShadow(element: Element): boolean {
  if (shadowOf(element) !== null) return true;
  for (const inner of element.querySelectorAll('*'))
    if (shadowOf(inner) !== null || inner.localName === 'slot') return true;
  return false;
}
