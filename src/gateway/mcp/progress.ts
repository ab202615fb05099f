import type { ServerContext } from '@modelcontextprotocol/server';
import type { Sessions } from '../../supervisor/ports/sessions.js';

/** A client that asked for progress gets a notification this often. */
const EVERY_MS = 1_000;
/** Steps that follow one another faster share a notification. */
const AT_MOST_EVERY_MS = 200;
const MAX_STEP_CHARS = 200;

/** The progress of one script. */
export interface Progress {
  /** Reports the steps of this session from now on. */
  follow(sessionId: string): void;
  /** Sends no more notifications. Idempotent. */
  stop(): void;
}

/**
 * Sends progress notifications to a client that asked for them: the seconds since its request, which increase as the
 * protocol requires, and the script's last step. Clients that did not ask cost nothing.
 */
export function reportProgress(
  sessions: Sessions,
  request: Pick<ServerContext['mcpReq'], '_meta' | 'notify'>,
): Progress {
  const progressToken = request._meta?.progressToken;
  if (progressToken === undefined) return { follow: () => undefined, stop: () => undefined };
  const startedAt = performance.now();
  const stopped = new AbortController();
  let notifiedAt = Number.NEGATIVE_INFINITY;
  let step = 'waiting for a browser';
  const notify = (): void => {
    const now = performance.now();
    if (stopped.signal.aborted || now - notifiedAt < AT_MOST_EVERY_MS) return;
    notifiedAt = now;
    const params = { progressToken, progress: Math.round(now - startedAt) / 1000, message: step };
    // A client that is disconnected may come back for the result.
    request.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  const timer = setInterval(notify, EVERY_MS);
  const watch = async (id: string): Promise<void> => {
    step = 'running';
    for await (const event of sessions.streams.events({
      id,
      after: sessions.streams.lastSeq(),
      signal: stopped.signal,
    })) {
      if (event.type !== 'StepFinished') continue;
      step = event.data.js.slice(0, MAX_STEP_CHARS);
      notify();
    }
  };
  return {
    follow: (id) => void watch(id).catch(() => undefined),
    stop() {
      clearInterval(timer);
      stopped.abort();
    },
  };
}
