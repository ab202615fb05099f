import type { EventType, NewEvent } from '../../../protocol/events.js';

/** Characters of what a session does: a line of a list. */
const ACTIVITY_LENGTH = 200;

/** Events that tell what a session does. */
export const ACTIVITY_EVENTS: ReadonlySet<EventType> = new Set(['FlowStarted', 'StepFinished', 'ScriptStarted']);

/** What a session has come to with an event, as a line of script or the name of a flow; null where the event tells nothing of that. */
export function activityOf(event: NewEvent): string | null {
  switch (event.type) {
    case 'FlowStarted':
      return event.data.path.slice(0, ACTIVITY_LENGTH);
    case 'StepFinished':
    case 'ScriptStarted':
      return event.data.js.slice(0, ACTIVITY_LENGTH);
    default:
      return null;
  }
}
