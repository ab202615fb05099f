import type { Principal } from './credentials.js';

/** The longest that Node's timers can wait; pages connect again long before. */
const MAX_TIMER_MS = 2_147_483_647;

/** The code of a WebSocket that ends with its link: one of those that RFC 6455 leaves to applications. */
export const LINK_OVER = 4401;

/** Ends what a link has opened when its time is over. */
export function untilOver(sees: Principal['sees'], end: () => void): NodeJS.Timeout | undefined {
  if (sees === null) return undefined;
  return setTimeout(end, Math.min(Math.max(0, sees.until - Date.now()), MAX_TIMER_MS));
}
