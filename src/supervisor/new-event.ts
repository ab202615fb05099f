import type { NewEvent, SessionEvent } from '../protocol/events.js';
import type { SessionRecord } from '../protocol/session.js';

/** A session's event as the journal takes it. */
export function newEvent(sessionId: SessionRecord['id'], event: SessionEvent, now: Date): NewEvent {
  return { ...event, sessionId, at: now.toISOString() };
}
