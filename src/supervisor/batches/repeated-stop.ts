/** How long a DELETE may be repeated, in ms: clients and proxies send one again whose answer they did not get. */
const REPEAT_MS = 60_000;

/** Whether a DELETE is the repetition of one that stopped something at `endedAt`, and must not remove what it left. */
export function isRepeatedStop(endedAt: string | null, now: Date): boolean {
  // A clock that was set back counts as late, not as a window without end.
  return endedAt !== null && Math.abs(now.getTime() - Date.parse(endedAt)) < REPEAT_MS;
}
