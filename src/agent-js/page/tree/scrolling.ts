import { nearestBox } from './boxless.js';
import { parentOf } from './flat-tree.js';
import { pictureOf } from './image-map.js';
import { drawnRect } from './visibility.js';

/** Scrolls: without a value the element into view, otherwise what scrolls it, by a page's part or to an end. */
export function scroll(element: Element, value: string | null): string | null {
  if (value === null || value === '') {
    bringIntoView(element);
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

/** To the middle of what scrolls it; also what is a part of another's box, which may be larger than the view of it. */
export function bringIntoView(element: Element): void {
  const boxed = pictureOf(element) ?? nearestBox(element);
  boxed.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  if (boxed === element) return;
  const page = element.ownerDocument.scrollingElement;
  for (const box of new Set([scrollerOf(boxed), page])) {
    const part = drawnRect(element);
    if (part === null || box === null) continue;
    const { clientWidth, clientHeight } = box;
    const { x, y } = box === page ? { x: 0, y: 0 } : box.getBoundingClientRect();
    const left = part.left + part.width / 2 - (x + clientWidth / 2);
    const top = part.top + part.height / 2 - (y + clientHeight / 2);
    box.scrollBy({ left, top, behavior: 'instant' });
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
