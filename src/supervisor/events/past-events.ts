import type { Journal } from '../../journal/journal.js';
import { lazyEvent } from '../../protocol/event-row.js';
import type { SessionId } from '../../protocol/session.js';
import { type EventPageCache, MAX_PAGE_CHARACTERS, MAX_PAGE_EVENTS, type Reading } from './event-page-cache.js';

/** Concurrent reads from the journal: a write never waits behind more, however many readers there are. */
const READS_AT_ONCE = 4;

/** Reads pages of older events from the journal, once for all readers that want the same page. */
export class PastEvents {
  readonly #journal: Journal;
  readonly #pages: EventPageCache;
  readonly #visibleSeq: () => number;
  readonly #reading = new Map<string, Promise<Reading>>();
  readonly #waiting: (() => void)[] = [];
  #reads = 0;

  /** @param visibleSeq returns the number of the newest event that readers can see */
  constructor(journal: Journal, pages: EventPageCache, visibleSeq: () => number) {
    this.#journal = journal;
    this.#pages = pages;
    this.#visibleSeq = visibleSeq;
  }

  /** The page above `after`, of one session or of all. @throws the journal's error */
  read(after: number, sessionId: SessionId | undefined): Promise<Reading> {
    const key = `${sessionId ?? ''}>${after}`;
    const known = this.#pages.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const reading = this.#reading.get(key) ?? this.#readNew(key, after, sessionId);
    this.#reading.set(key, reading);
    return reading;
  }

  /** Caches the page before removing it from the pending reads, so that it is not read a second time in between. */
  async #readNew(key: string, after: number, sessionId: SessionId | undefined): Promise<Reading> {
    try {
      const reading = await this.#readOnce(after, sessionId);
      this.#pages.put(key, reading);
      return reading;
    } finally {
      this.#reading.delete(key);
    }
  }

  async #readOnce(after: number, sessionId: SessionId | undefined): Promise<Reading> {
    await this.#acquireRead();
    try {
      // Everything up to this number is on disk.
      const newest = this.#visibleSeq();
      const query = { after, sessionId, limit: MAX_PAGE_EVENTS, characters: MAX_PAGE_CHARACTERS };
      const { rows, more } = await this.#journal.eventRows(query);
      // Events on disk that are not in the ring yet are withheld until they are visible to all readers.
      const events = rows
        .filter(({ seq }) => seq <= this.#visibleSeq())
        .map(({ seq, sessionId, at, type, data }) => lazyEvent(seq, [sessionId, at, type, data]));
      const last = events.at(-1)?.seq ?? after;
      const isCut = more && events.length === rows.length;
      return { events, through: isCut ? last : Math.max(last, newest) };
    } finally {
      this.#reads -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #acquireRead(): Promise<void> {
    if (this.#reads >= READS_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#reads += 1;
  }
}
