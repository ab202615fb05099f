import { nameMemory } from './name-memory.js';

const EVENTS = ['transitionend', 'animationend', 'scroll', 'load', 'toggle', 'input', 'change', 'focusin'] as const;
/** A page that changes without end is looked at this often at most. */
const LEAST_MS = 10;

/**
 * Settles when the page has changed, or after `longestMs`: styles, layout and what a script changed outside of the
 * document give no sign.
 *
 * @param costMs what looking costs; a costly look is taken less often
 */
export function nextChange(longestMs: number, costMs: number): Promise<void> {
  return new Promise((resolve) => {
    const earliest = performance.now() + Math.max(LEAST_MS, costMs * 2);
    const finish = () => {
      stop();
      clearTimeout(timer);
      for (const type of EVENTS) removeEventListener(type, noticed, true);
      resolve();
    };
    let timer = setTimeout(finish, longestMs);
    let waiting = true;
    const noticed = () => {
      if (!waiting) return;
      waiting = false;
      clearTimeout(timer);
      timer = setTimeout(finish, Math.max(0, earliest - performance.now()));
    };
    const memory = nameMemory();
    memory.attend();
    const stop = memory.onMutation(noticed);
    for (const type of EVENTS) addEventListener(type, noticed, true);
  });
}
