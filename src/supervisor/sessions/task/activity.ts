import type { EventType, NewEvent } from '../../../protocol/events.js';

/** The most characters of an activity, which is one line in a list. */
const ACTIVITY_LENGTH = 200;

/** Events that describe a session's activity. */
export const ACTIVITY_EVENTS: ReadonlySet<EventType> = new Set(['FlowStarted', 'StepFinished', 'ScriptStarted']);

/** The activity that an event describes, as a line of script or the name of a flow; null if it describes none. */
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
