import { auditTime, buffer, filter, map, merge, type Observable, share } from 'rxjs';
import type { NewEvent, SessionEvent } from '../../protocol/events.js';
import type { SessionId } from '../../protocol/session.js';

/** How long the first event of a batch waits for others, in milliseconds. */
const BATCH_MS = 4;

/**
 * A session's own events as batches for the journal: each with the session's id and the instant of its emission. The
 * last batch goes out when the source completes, one under way when `flush$` says so.
 */
export function batchEvents(
  events$: Observable<SessionEvent>,
  {
    sessionId,
    now,
    flush$,
  }: { readonly sessionId: SessionId; readonly now: () => Date; readonly flush$: Observable<void> },
): Observable<readonly NewEvent[]> {
  const stamped$ = events$.pipe(
    map((event): NewEvent => ({ ...event, sessionId, at: now().toISOString() })),
    share(),
  );
  return stamped$.pipe(
    buffer(merge(stamped$.pipe(auditTime(BATCH_MS)), flush$)),
    filter((batch) => batch.length > 0),
  );
}
