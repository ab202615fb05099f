import { auditTime, buffer, filter, map, type Observable, share } from 'rxjs';
import type { NewEvent, SessionEvent } from '../../protocol/events.js';
import type { SessionId } from '../../protocol/session.js';

/** How long the first event of a batch waits for others, in milliseconds. */
const BATCH_MS = 4;

/**
 * A session's own events as batches for the journal: each with the session's id and the instant of its emission. The
 * last batch goes out when the source completes.
 */
export function batchEvents(
  events$: Observable<SessionEvent>,
  sessionId: SessionId,
  now: () => Date,
): Observable<readonly NewEvent[]> {
  const stamped$ = events$.pipe(
    map((event): NewEvent => ({ ...event, sessionId, at: now().toISOString() })),
    share(),
  );
  return stamped$.pipe(
    buffer(stamped$.pipe(auditTime(BATCH_MS))),
    filter((batch) => batch.length > 0),
  );
}
