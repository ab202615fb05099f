// The door of this wing: whoever stands outside imports from here. Browsers for sessions: opened for one, or kept ready.
export { VideoEncoding } from './video-encoding.js';
export { WarmPool } from './warm-pool.js';
