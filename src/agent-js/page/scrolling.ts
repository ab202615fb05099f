import { parentOf } from './flat-tree.js';

/** Scrolls: without a value the element into view, otherwise what scrolls it, by a page's part or to an end. */
export function scroll(element: Element, value: string | null): string | null {
  if (value === null || value === '') {
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    return null;
  }
  const box = scrollerOf(element);
  const by = (left: number, top: number) => box.scrollBy({ left, top, behavior: 'instant' });
  const across = box.clientWidth * 0.8;
  const down = box.clientHeight * 0.8;
  switch (value) {
    case 'down':
      by(0, down);
      return null;
    case 'up':
      by(0, -down);
      return null;
    case 'right':
      by(across, 0);
      return null;
    case 'left':
      by(-across, 0);
      return null;
    case 'bottom':
      box.scrollTo({ top: box.scrollHeight, behavior: 'instant' });
      return null;
    case 'top':
      box.scrollTo({ top: 0, behavior: 'instant' });
      return null;
    default: {
      const pixels = Number(value);
      if (!Number.isFinite(pixels)) return 'scrolls up, down, left, right, to top, to bottom, or by a number of pixels';
      by(0, pixels);
      return null;
    }
  }
}

function scrollerOf(element: Element): Element {
  for (let node: Element | null = element; node !== null; node = parentOf(node)) {
    const { overflowX, overflowY } = getComputedStyle(node);
    const scrolls = /auto|scroll/.test(`${overflowX} ${overflowY}`);
    if (scrolls && (node.scrollHeight > node.clientHeight || node.scrollWidth > node.clientWidth)) return node;
  }
  return element.ownerDocument.scrollingElement ?? element.ownerDocument.documentElement;
}
