// The door of this wing: whoever stands outside imports from here. What is done beside the sessions: recovery, retention, reaping.
export { endAll } from './end-all.js';
export { Reaper } from './reaper.js';
export { recoverSessions } from './recovery.js';
export { Retention } from './retention.js';
