import type { Journal } from '../../journal/journal.js';
import type { JournalEvent } from '../../protocol/events.js';
import type { SessionId } from '../../protocol/session.js';

/** Events that are read from the journal at once. */
const PAGE_SIZE = 2_000;

/** All events of a session that are on disk, in order. While the database is away, waits for it. */
export async function* journaledEvents(journal: Journal, sessionId: SessionId): AsyncGenerator<JournalEvent, void> {
  let after = 0;
  for (;;) {
    const page = await journal.events({ sessionId, after, limit: PAGE_SIZE, isKept: true });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_SIZE) return;
    after = last.seq;
  }
}
