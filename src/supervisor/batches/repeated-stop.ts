/** How long a DELETE may be repeated, in ms: clients and proxies resend a request whose response they did not get. */
const REPEAT_MS = 60_000;

/** Whether a DELETE repeats one that stopped something at `endedAt`, and therefore must not remove it. */
export function isRepeatedStop(endedAt: string | null, now: Date): boolean {
  // If the clock was set back, the request counts as late.
  return endedAt !== null && Math.abs(now.getTime() - Date.parse(endedAt)) < REPEAT_MS;
}
