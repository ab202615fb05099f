import type { Clock } from '../actors/clock.js';
import type { JournalBatch } from '../journal/journal.js';
import type { SessionId } from '../protocol/session.js';
import { sentenceOf } from '../protocol/system-fault.js';
import type { Log } from '../telemetry/log.js';
import type { EventHub } from './event-hub.js';

/** Waits after each try, in milliseconds. */
const WAITS_MS = [100, 400, 1_500];

/**
 * Writes a session's end, and tries more than once: a disk that is full for a moment must not keep a session from ending.
 * Never rejects. An end that cannot be written is logged; the next start of the service ends the session then.
 */
export async function writeEnd(
  { hub, clock, log }: { readonly hub: EventHub; readonly clock: Clock; readonly log: Log },
  id: SessionId,
  batch: JournalBatch,
): Promise<void> {
  for (const waitMs of WAITS_MS) {
    try {
      await hub.write(batch);
      return;
    } catch (error) {
      log(`its end was not written: ${sentenceOf(error)}`, { session: id });
      await new Promise<void>((resolve) => {
        clock.after(waitMs, resolve);
      });
    }
  }
}
