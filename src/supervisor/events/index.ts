// The public interface of this wing: other wings import only from here. Events of all sessions are written, numbered,
// and read here.
export { EventHub } from './event-hub.js';
export { journaledEvents } from './journaled-events.js';
export { SessionStreams } from './session-streams.js';
