import type { Sessions } from '../supervisor/ports/sessions.js';
import type { LinkScope } from './credentials.js';

/** The longest delay of Node's timers, about 25 days; pages reconnect long before. */
const MAX_TIMER_MS = 2_147_483_647;

/** The close code of a WebSocket whose link has expired, from the range that RFC 6455 leaves to applications. */
export const LINK_EXPIRED = 4401;

/**
 * Calls `end` when one of the caller's links expires, or the handoff that it is for ends. Does nothing for a caller with
 * a token. Returns a function that cancels it, which is idempotent.
 */
export function endAtLinkExpiry(scope: LinkScope | null, { connections }: Sessions, end: () => void): () => void {
  if (scope === null) return () => undefined;
  const cancelled = new AbortController();
  const over = () => {
    if (cancelled.signal.aborted) return;
    cancelled.abort();
    end();
  };
  const timer = setTimeout(over, Math.min(Math.max(0, scope.until - Date.now()), MAX_TIMER_MS));
  for (const [id, handoff] of scope.handoffs) {
    connections.handoffEnded(id, handoff, cancelled.signal).then(over, () => undefined);
  }
  return () => {
    clearTimeout(timer);
    cancelled.abort();
  };
}
