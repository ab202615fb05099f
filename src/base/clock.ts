/** The source of time; injected, so that tests can control it. */
export interface Clock {
  now(): Date;
  /** Calls `work` once after `ms`. The returned function cancels it and may be called at any time. */
  after(ms: number, work: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => new Date(),
  after(ms, work) {
    // Node would fire a longer timer immediately.
    const timer = setTimeout(work, Math.min(ms, 2_147_483_647));
    return () => clearTimeout(timer);
  },
};
