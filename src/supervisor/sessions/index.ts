// The record of a session and its life, from being accepted to its end: the journal, what the session holds, who controls it,
// and its links to the actor, which does the work in src/session/. Other wings import only from here.
export { type EndParts, endStored } from './end-stored.js';
export type { VideoEncoders, VideoRecording } from './frame-video.js';
export { LivingSession } from './living-session.js';
export { QueuedJob } from './queued-job.js';
export {
  type BrowserOpening,
  needsOwnActor,
  type OpenBounds,
  type OpenBrowser,
  type SessionBrowser,
  type SessionStart,
  type SessionTask,
  startSessionActor,
} from './session-child.js';
export { SessionConnections } from './session-connections.js';
export type { SessionDependencies } from './session-dependencies.js';
export { flowsEnd, interruptedEnd, lostEnd, nodeLostEnd, type SessionEnd, stoppedEnd } from './session-end.js';
export type { Slot } from './session-lifecycle.js';
export { type AcceptedSession, acceptedRecord, newSessionId, waitingRecord } from './session-record.js';
export { labelsOf, parseId, SessionTable } from './session-table.js';
export { SessionWaiters, type WaitBounds } from './session-waiters.js';
export { type OpenPhase, readProgress, type TaskProgress } from './task/task-phase.js';
