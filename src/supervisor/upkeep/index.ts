// The public interface of this wing: other wings import only from here. Work beside the sessions: recovery, retention,
// removing orphans.
export { endAll } from './end-all.js';
export { Reaper } from './reaper.js';
export { recoverSessions } from './recovery.js';
export { Retention } from './retention.js';
