import type { ActorRef } from '../../actors/actor.js';
import type { DevToolsMail } from '../../actors/session/connection/devtools-clients.js';
import type { SessionMessages } from '../../actors/session/messages.js';

const ATTACH_MS = 6_000;
/** So long one look for messages waits for the first. */
const LOOK_MS = 20_000;
const GRACE_MS = 5_000;

/** Another client of a session's browser, over the session's own connection. It is lost with the session's actor. */
export interface DevToolsClient {
  /** A command: a JSON object as text, without a member `sessionId` or with the one that is given beside it. */
  send(text: string, sessionId: string | undefined): void;
  /**
   * What the browser has for it, once there is something, or nothing after a while. One call at a time.
   * @throws SESSION_RESTARTED, SESSION_ENDED, WORKER_LOST when the connection is gone
   */
  next(signal: AbortSignal): Promise<DevToolsMail>;
  /** Ends what the client began in the browser. Idempotent. */
  close(): void;
}

/** @throws CAPACITY, WORKER_LOST */
export async function connectDevTools(actor: ActorRef<SessionMessages>): Promise<DevToolsClient> {
  const client = await actor.ask('AttachDevTools', null, { deadlineMs: ATTACH_MS });
  return {
    send: (text, sessionId) => actor.tell('SendDevTools', { client, text, sessionId }),
    next: (signal) =>
      actor.ask('NextDevTools', { client, timeoutMs: LOOK_MS }, { deadlineMs: LOOK_MS + GRACE_MS, signal }),
    close: () => actor.tell('DetachDevTools', { client }),
  };
}
