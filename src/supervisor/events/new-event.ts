import { type EventRow, eventRow } from '../../protocol/event-row.js';
import type { SessionEvent } from '../../protocol/events.js';
import type { SessionRecord } from '../../protocol/session.js';

/** A session's event as the journal takes it. */
export function newEvent(sessionId: SessionRecord['id'], event: SessionEvent, now: Date): EventRow {
  return eventRow(sessionId, event, now.toISOString());
}
