import { parseLocator } from './locator.js';
import type { Box, PageProblem } from './page-calls.js';
import { matchesOf } from './resolve.js';
import { viewportRect } from './tree/geometry.js';

/** Where everything is drawn that one of the locators means, in CSS pixels from the document's beginning. */
export function maskBoxes(locators: readonly string[]): { view: Box; boxes: Box[] } | PageProblem {
  const boxes: Box[] = [];
  for (const source of locators) {
    const locator = parseLocator(source);
    try {
      if (locator === undefined) throw new SyntaxError();
      const index = locator.kind === 'text' ? locator.index : undefined;
      const matches = matchesOf(locator);
      for (const element of index === undefined ? matches : matches.slice(index - 1, index)) {
        const { x, y, width, height } = viewportRect(element);
        boxes.push({ left: x + scrollX, top: y + scrollY, width, height });
      }
    } catch {
      return { problem: 'syntax', message: `${source} is not a locator: a locator is {role}text, CSS or XPath` };
    }
  }
  return { view: { left: scrollX, top: scrollY, width: innerWidth, height: innerHeight }, boxes };
}
