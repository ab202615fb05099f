// The door of this wing: whoever stands outside imports from here. Browsers for sessions: opened for one, or kept ready.
export { WarmPool } from './warm-pool.js';
