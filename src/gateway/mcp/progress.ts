import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';

/** A client that set itself a time for silence hears something so often. */
const EVERY_MS = 1_000;
/** Steps that follow one another faster are told together. */
const AT_MOST_EVERY_MS = 200;
const MAX_STEP_CHARS = 200;

/** The progress of one script. */
export interface Progress {
  /** From now on the last step of this session is told. */
  follow(sessionId: string): void;
  /** Tells nothing more. Idempotent. */
  stop(): void;
}

/**
 * Tells a client that asked for it how its script goes on: the seconds since it came, which rise as the protocol wants,
 * and the script's last step. Clients that did not ask cost nothing.
 */
export function tellProgress(
  sessions: Sessions,
  extra: RequestHandlerExtra<ServerRequest, ServerNotification>,
): Progress {
  const progressToken = extra._meta?.progressToken;
  if (progressToken === undefined) return { follow: () => undefined, stop: () => undefined };
  const startedAt = performance.now();
  const stopped = new AbortController();
  let toldAt = Number.NEGATIVE_INFINITY;
  let step = 'waiting for a browser';
  const tell = (): void => {
    const now = performance.now();
    if (stopped.signal.aborted || now - toldAt < AT_MOST_EVERY_MS) return;
    toldAt = now;
    const params = { progressToken, progress: Math.round(now - startedAt) / 1000, message: step };
    // A client that is not there to hear it may come back for the result.
    extra.sendNotification({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  const timer = setInterval(tell, EVERY_MS);
  const watch = async (id: string): Promise<void> => {
    step = 'running';
    for await (const event of sessions.streams.events({
      id,
      after: sessions.streams.lastSeq(),
      signal: stopped.signal,
    })) {
      if (event.type !== 'StepFinished') continue;
      step = event.data.js.slice(0, MAX_STEP_CHARS);
      tell();
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
