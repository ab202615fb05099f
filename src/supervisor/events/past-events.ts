import type { Journal } from '../../journal/journal.js';
import { listedEvent } from '../../protocol/event-row.js';
import type { SessionId } from '../../protocol/session.js';
import { type EventPages, MAX_PAGE_CHARACTERS, MAX_PAGE_EVENTS, type Reading } from './event-pages.js';

/** Pages that are read from the journal at once: a write never waits behind more, however many readers there are. */
const READS_AT_ONCE = 4;

/** Reads pages of the past from the journal: one read for all readers that want the same page at once. */
export class PastEvents {
  readonly #journal: Journal;
  readonly #pages: EventPages;
  readonly #shown: () => number;
  readonly #reading = new Map<string, Promise<Reading>>();
  readonly #waiting: (() => void)[] = [];
  #reads = 0;

  /** @param shown the number of the newest event that readers may see */
  constructor(journal: Journal, pages: EventPages, shown: () => number) {
    this.#journal = journal;
    this.#pages = pages;
    this.#shown = shown;
  }

  /** The page above `after`, of one session or of all. @throws what the journal fails with */
  read(after: number, sessionId: SessionId | undefined): Promise<Reading> {
    const key = `${sessionId ?? ''}>${after}`;
    const known = this.#pages.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const reading = this.#reading.get(key) ?? this.#readNew(key, after, sessionId);
    this.#reading.set(key, reading);
    return reading;
  }

  /** On the shelf before it is read no more: nobody reads it a second time in between. */
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
    await this.#place();
    try {
      // All up to there is on disk.
      const newest = this.#shown();
      const query = { after, sessionId, limit: MAX_PAGE_EVENTS, characters: MAX_PAGE_CHARACTERS };
      const { rows, more } = await this.#journal.eventRows(query);
      // What is on disk but not yet in the ring is shown when it is there: no reader is ahead of what was shown.
      const events = rows
        .filter(({ seq }) => seq <= this.#shown())
        .map(({ seq, sessionId, at, type, data }) => listedEvent(seq, [sessionId, at, type, data]));
      const last = events.at(-1)?.seq ?? after;
      const isCut = more && events.length === rows.length;
      return { events, through: isCut ? last : Math.max(last, newest) };
    } finally {
      this.#reads -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #place(): Promise<void> {
    if (this.#reads >= READS_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#reads += 1;
  }
}
