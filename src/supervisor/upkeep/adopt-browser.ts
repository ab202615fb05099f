import { sentenceOf } from '../../base/system-fault.js';
import type { BrowserLease } from '../../containers/driver.js';
import type { StoredSession } from '../../journal/journal.js';
import { TroupeError } from '../../protocol/errors.js';
import type { SessionDependencies } from '../sessions/index.js';

/** What a browser was adopted as; without one, why, where its driver failed. */
export interface Adoption {
  readonly lease: BrowserLease | null;
  readonly fault: TroupeError | null;
}

/** A browser that answers does so within 2 s; the rest is for the driver, which may have to wait for its engine. */
const ADOPT_MS = 15_000;

export const NOTHING_ADOPTED: Adoption = { lease: null, fault: null };

/** Takes up the browser that an earlier service wrote down for a session. Never rejects; its bound is 15 s. */
export async function adoptBrowser(
  { driver, clock, log }: Pick<SessionDependencies, 'driver' | 'clock' | 'log'>,
  { record, lease }: Pick<StoredSession, 'record' | 'lease'>,
): Promise<Adoption> {
  if (lease === null) return NOTHING_ADOPTED;
  const adopting = driver.adopt(lease);
  let stopClock = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`the driver did not answer within ${ADOPT_MS} ms`);
    stopClock = clock.after(ADOPT_MS, () => reject(error));
  });
  try {
    return { lease: await Promise.race([adopting, late]), fault: null };
  } catch (cause) {
    // One that comes after all is nobody's.
    adopting.then((lease) => lease?.release()).catch(() => undefined);
    const why = sentenceOf(cause);
    log(`its browser is not taken up again: ${why}`, { session: record.id });
    const message = `The service was started again and could not take up the session's browser: ${why}`;
    return { lease: null, fault: new TroupeError('WORKER_LOST', message, undefined, { cause }) };
  } finally {
    stopClock();
  }
}
