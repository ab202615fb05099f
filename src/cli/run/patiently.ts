import { pause } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';

/** How long a service that does not answer is asked again, in milliseconds: as its event streams are, and a claim lasts. */
const PATIENCE_MS = 30_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;

/**
 * Repeats a call that got no answer. The call must be one that may be made twice.
 * @param cancelled the call is not repeated once it is aborted
 * @throws what the service answered; UNAVAILABLE after {@link PATIENCE_MS}
 */
export async function patiently<T>(call: () => Promise<T>, cancelled?: AbortSignal): Promise<T> {
  const until = performance.now() + PATIENCE_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    try {
      return await call();
    } catch (error) {
      if (!isAway(error) || cancelled?.aborted || performance.now() + pauseMs > until) throw error;
    }
    await pause(pauseMs);
  }
}

function isAway(error: unknown): boolean {
  if (error instanceof TroupeError) return error.code === 'UNAVAILABLE' || error.code === 'CAPACITY';
  // The second: an answer was cut in the middle.
  return error instanceof Error && (error.name === 'TimeoutError' || error.message === 'terminated');
}
