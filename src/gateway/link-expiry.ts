import type { Principal } from './credentials.js';

/** The longest delay of Node's timers, about 25 days; pages reconnect long before. */
const MAX_TIMER_MS = 2_147_483_647;

/** The close code of a WebSocket whose link has expired, from the range that RFC 6455 leaves to applications. */
export const LINK_EXPIRED = 4401;

/** Calls `end` when the caller's link expires; does nothing for a caller with a token. */
export function endAtLinkExpiry(sees: Principal['linkScope'], end: () => void): NodeJS.Timeout | undefined {
  if (sees === null) return undefined;
  return setTimeout(end, Math.min(Math.max(0, sees.until - Date.now()), MAX_TIMER_MS));
}
