import type { JournalEvent } from '../../../../src/protocol/events.js';

/** What a recording is made of: acts, and restarts, which end it. */
export type RecordingEvent = Extract<JournalEvent, { type: 'ActRecorded' | 'SessionRestarted' }>;

export function isOfRecording(event: JournalEvent): event is RecordingEvent {
  return event.type === 'ActRecorded' || event.type === 'SessionRestarted';
}
