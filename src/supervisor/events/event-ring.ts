import type { EventPage, LazyEvent } from '../../protocol/event-row.js';
import type { SessionId } from '../../protocol/session.js';
import { MAX_PAGE_CHARACTERS, MAX_PAGE_EVENTS, type Reading } from './event-page-cache.js';

/** Events in memory for readers that are up to date. Readers further behind read from the journal. */
const RING_SIZE = 4096;
/** How far the ring may exceed its size before the oldest events are dropped together. */
const RING_SLACK = 64;
/** The bound of their characters in total. Three quarters remain when the oldest are dropped. */
const RING_CHARACTERS = 8 * 1024 * 1024;

/** The newest events, in order and without gap. */
export class EventRing {
  #events: LazyEvent[] = [];
  #characters = 0;

  add(events: EventPage): void {
    for (const event of events) {
      this.#events.push(event);
      this.#characters += event.characters;
    }
    this.#dropOldest();
  }

  /** Whether the ring contains every event above `after`. */
  reaches(after: number): boolean {
    const [oldest] = this.#events;
    return oldest !== undefined && oldest.seq <= after + 1;
  }

  /** A page of the events above `after`, of one session or of all. A copy, so that it retains nothing else. */
  read(after: number, sessionId: SessionId | undefined): Reading {
    const events: LazyEvent[] = [];
    let characters = 0;
    let through = after;
    for (let index = firstAfter(this.#events, after); index < this.#events.length; index += 1) {
      const event = this.#events[index];
      if (event === undefined) break;
      if (sessionId === undefined || event.sessionId === sessionId) {
        const full = events.length >= MAX_PAGE_EVENTS || characters + event.characters > MAX_PAGE_CHARACTERS;
        if (full && events.length > 0) break;
        events.push(event);
        characters += event.characters;
      }
      through = event.seq;
    }
    return { events, through };
  }

  clear(): void {
    this.#events = [];
    this.#characters = 0;
  }

  #dropOldest(): void {
    const many = this.#events.length > RING_SIZE + RING_SLACK;
    if (!many && this.#characters <= RING_CHARACTERS) return;
    let first = 0;
    for (const { characters } of this.#events) {
      const fits = this.#events.length - first <= RING_SIZE && this.#characters <= 0.75 * RING_CHARACTERS;
      if (fits) break;
      first += 1;
      this.#characters -= characters;
    }
    this.#events = this.#events.slice(first);
  }
}

/** The index of the first event with a number above `after`; events are sorted by number. */
function firstAfter(events: EventPage, after: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle]?.seq ?? 0) > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
