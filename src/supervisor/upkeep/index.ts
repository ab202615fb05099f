// The public interface of this wing: other wings import only from here. Work beside the sessions: recovery, retention,
// removing orphans.

export { ClaimedSessions } from './claimed-sessions.js';
export { NodeDirectory } from './node-directory.js';
export { Reaper } from './reaper.js';
export { leftSessions, type Recovered, recoverSessions } from './recovery.js';
export { Retention } from './retention.js';
export { stopSession, stopSessions } from './stop-sessions.js';
