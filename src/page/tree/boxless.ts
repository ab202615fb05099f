import { parentOf, shadowOf } from './flat-tree.js';

/** Whether an element has no box of its own, `display: contents`: what is in it is drawn as if it stood around the element. */
export function isBoxless(element: Element): boolean {
  return getComputedStyle(element).display === 'contents';
}

/** The boxes of what is drawn in an element, of elements and texts, in its document's viewport. */
export function boxesInside(element: Element): readonly DOMRect[] {
  const range = element.ownerDocument.createRange();
  range.selectNodeContents(shadowOf(element) ?? element);
  return [...range.getClientRects()].filter(({ width, height }) => width > 0 && height > 0);
}

/** An element that the browser can scroll to, in place of one that it cannot: in it, or else around it. */
export function nearestBox(element: Element): Element {
  if (!isBoxless(element)) return element;
  const { children } = shadowOf(element) ?? element;
  for (const child of children) if (child.checkVisibility()) return child;
  const around = parentOf(element);
  return around === null ? element : nearestBox(around);
}
