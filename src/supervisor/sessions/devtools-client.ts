import type { ActorRef } from '../../actors/actor.js';
import type { SessionMessages } from '../../actors/session/messages.js';
import type { DevToolsClient } from '../ports/connections.js';

const ATTACH_MS = 6_000;
/** So long one look for messages waits for the first. */
const LOOK_MS = 20_000;
const GRACE_MS = 5_000;

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
