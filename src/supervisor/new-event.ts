import { type EventLine, eventLine } from '../protocol/event-line.js';
import type { SessionEvent } from '../protocol/events.js';
import type { SessionRecord } from '../protocol/session.js';

/** A session's event as the journal takes it. */
export function newEvent(sessionId: SessionRecord['id'], event: SessionEvent, now: Date): EventLine {
  return eventLine(sessionId, event, now.toISOString());
}
