import type { BrowserLease } from '../../containers/driver.js';
import type { EventData } from '../../protocol/events.js';
import type { SessionRecord } from '../../protocol/session.js';

/** What is told of a start: where it runs, how long it waited for its place, and how long its browser took. */
export function startFacts(
  record: SessionRecord,
  start: {
    readonly lease: BrowserLease;
    readonly warm: boolean;
    readonly thread: number;
    /** When it had its place. */
    readonly begunAt: Date;
    readonly now: Date;
  },
): EventData<'SessionStarted'> {
  const { lease, warm, thread, begunAt, now } = start;
  const begunMs = begunAt.getTime();
  return {
    driver: record.driver ?? lease.identity.driver,
    browser: lease.endpoint.product,
    thread,
    mode: record.mode,
    // What came before a retry was no waiting.
    ...(record.attempt > 1 ? {} : { waitedMs: Math.max(0, begunMs - Date.parse(record.createdAt)) }),
    openMs: Math.max(0, now.getTime() - begunMs),
    warm,
  };
}
