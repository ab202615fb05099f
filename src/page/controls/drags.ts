import { CARRY } from '../event-kinds.js';
import { allRoots } from '../tree/flat-tree.js';
import { reactionsOf } from './reactions.js';

/** Known for one turn, in which nothing changes. */
let known: boolean | null = null;

/** What a browser lets be dragged without a word of its page. */
const DRAGGED = 'img, a[href]';

/**
 * Whether anything on the page is dragged as the browser does it, so that something may be dropped. That an item hears where a
 * drag begins says nothing: some libraries listen on all of them, for the few that are dragged.
 */
export function anyCarried(): boolean {
  if (known === null) {
    known = allRoots().some((root) => {
      if (root.querySelector('[draggable="true"]') !== null) return true;
      return [...root.querySelectorAll(DRAGGED)].some((one) => (reactionsOf(one) & CARRY) !== 0);
    });
    queueMicrotask(() => {
      known = null;
    });
  }
  return known;
}
