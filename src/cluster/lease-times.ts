import { TroupeError } from '../protocol/errors.js';

/** When a node proves that it is alive, and what follows if it does not. Milliseconds; changed together, by a factor. */
export interface LeaseTimes {
  /** A node renews this often. */
  readonly renewEveryMs: number;
  /** A node without a successful renewal for this long, by its own monotonic clock, stops its sessions. */
  readonly fenceAfterMs: number;
  /** A node without a renewal for this long, by the database's clock, is lost: others take over its claims. */
  readonly lostAfterMs: number;
  /** A call to the store that takes longer has failed. Its outcome is then unknown. */
  readonly callTimeoutMs: number;
  /** A node with free slots asks for jobs this often, even if no hint arrives. */
  readonly pollEveryMs: number;
}

const DEFAULT_TIMES: LeaseTimes = {
  renewEveryMs: 5_000,
  fenceAfterMs: 20_000,
  lostAfterMs: 30_000,
  callTimeoutMs: 4_000,
  pollEveryMs: 1_000,
};

/** Below this factor, a busy machine would miss its renewals. */
const MIN_FACTOR = 0.05;
const MAX_FACTOR = 20;

/**
 * All times, scaled by one factor: their proportions are what makes the lease safe.
 * @throws INVALID_REQUEST if the factor is out of range
 */
export function leaseTimes(factor = 1): LeaseTimes {
  if (!(factor >= MIN_FACTOR && factor <= MAX_FACTOR)) {
    throw new TroupeError(
      'INVALID_REQUEST',
      `The factor of the lease times is ${factor}; choose one from ${MIN_FACTOR} to ${MAX_FACTOR}`,
    );
  }
  const scaled = (ms: number) => Math.round(ms * factor);
  return {
    renewEveryMs: scaled(DEFAULT_TIMES.renewEveryMs),
    fenceAfterMs: scaled(DEFAULT_TIMES.fenceAfterMs),
    lostAfterMs: scaled(DEFAULT_TIMES.lostAfterMs),
    callTimeoutMs: scaled(DEFAULT_TIMES.callTimeoutMs),
    pollEveryMs: scaled(DEFAULT_TIMES.pollEveryMs),
  };
}
