// The door of this wing: whoever stands outside imports from here. Events of all sessions: written, numbered, read and followed.
export { EventHub } from './event-hub.js';
export { journaledEvents } from './journaled-events.js';
export { SessionStreams } from './session-streams.js';
