import { askPage } from '../controls/ask-page.js';
import { reactionsOf } from '../controls/reactions.js';
import { DOWN } from '../event-kinds.js';
import { parentOf } from '../tree/flat-tree.js';

/**
 * Whether an element, or what it stands in, reacts already when the button goes down. Listeners of a whole page mostly
 * watch for presses beside something.
 */
export function hearsPress(element: Element): boolean {
  askPage(element);
  for (let node: Element | null = element; node !== null; node = parentOf(node)) {
    if (node.localName === 'body' || node.localName === 'html') return false;
    if ((reactionsOf(node) & DOWN) !== 0) return true;
  }
  return false;
}
