/** The half-life of a caller's usage in milliseconds: callers with much recent usage yield to others. */
export const USAGE_HALF_LIFE_MS = 60_000;

/** The score of a caller that was never served: it is next. */
export const UNSERVED = Number.NEGATIVE_INFINITY;

/**
 * A caller's usage as a number that does not change as time passes: the binary logarithm of the decayed usage, plus the
 * instant in half-lives. The caller with the smallest score has the least recent usage at every later instant, so the
 * database can keep callers in an index by it.
 *
 * @param nowMs the instant of the serving, by the clock of all scores
 * @returns the score after one more turn
 */
export function servedScore(score: number, nowMs: number): number {
  const now = nowMs / USAGE_HALF_LIFE_MS;
  return Math.log2(2 ** (score - now) + 1) + now;
}
