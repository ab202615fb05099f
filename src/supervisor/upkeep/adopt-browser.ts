import { startLimit } from '../../base/deadline.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { BrowserLease } from '../../containers/driver.js';
import type { StoredSession } from '../../journal/journal.js';
import { TroupeError } from '../../protocol/errors.js';
import type { SessionDependencies } from '../sessions/index.js';

/** The adopted browser; if there is none because its driver failed, the error. */
export interface Adoption {
  readonly lease: BrowserLease | null;
  readonly fault: TroupeError | null;
}

/** A browser has 10 s to answer; the rest is for the driver, which may have to wait for its engine. */
const ADOPT_MS = 15_000;

export const NOTHING_ADOPTED: Adoption = { lease: null, fault: null };

/** Adopts the browser that an earlier run of the service recorded for a session. Never rejects; takes 15 s at most. */
export async function adoptBrowser(
  { driver, clock, log }: Pick<SessionDependencies, 'driver' | 'clock' | 'log'>,
  { record, lease }: Pick<StoredSession, 'record' | 'lease'>,
): Promise<Adoption> {
  if (lease === null) return NOTHING_ADOPTED;
  const adopting = driver.adopt(lease);
  let stopClock = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`the driver did not answer within ${ADOPT_MS} ms`);
    stopClock = startLimit(ADOPT_MS, () => reject(error), clock);
  });
  try {
    return { lease: await Promise.race([adopting, late]), fault: null };
  } catch (cause) {
    // If the driver answers later, nothing uses the browser.
    adopting.then((lease) => lease?.release()).catch(() => undefined);
    const why = sentenceOf(cause);
    log(`its browser could not be adopted: ${why}`, { session: record.id });
    const message = `The service was restarted and could not adopt the session's browser: ${why}`;
    return { lease: null, fault: new TroupeError('WORKER_LOST', message, undefined, { cause }) };
  } finally {
    stopClock();
  }
}
