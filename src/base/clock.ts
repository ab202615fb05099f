/** Time as actors and their owners see it; injected, so that a test can own it. */
export interface Clock {
  now(): Date;
  /** Calls `work` once after `ms`; the function answered cancels it and may be called at any time. */
  after(ms: number, work: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => new Date(),
  after(ms, work) {
    // Node fires a longer timer at once.
    const timer = setTimeout(work, Math.min(ms, 2_147_483_647));
    return () => clearTimeout(timer);
  },
};
