import type { EventPage } from '../../protocol/event-row.js';

/** Limits of a page: it ends before the event that would exceed either. A single larger event is a page of its own. */
export const MAX_PAGE_EVENTS = 256;
export const MAX_PAGE_CHARACTERS = 64 * 1024;

/** The bound of the cache, in characters. */
const CACHE_CHARACTERS = 8 * 1024 * 1024;

/** A page as it was read: no event that the reader wants lies between the page's last event and `through`. */
export interface Reading {
  readonly events: EventPage;
  readonly through: number;
}

/**
 * A cache of recent pages, so that readers of the same events share them. Empty while there are no readers: a reader
 * calls
 * `enter` before its first page and `leave` after its last.
 */
export class EventPageCache {
  /** Least recently used first. */
  readonly #readings = new Map<string, { readonly reading: Reading; readonly characters: number }>();
  #characters = 0;
  #readers = 0;

  enter(): void {
    this.#readers += 1;
  }

  leave(): void {
    this.#readers -= 1;
    if (this.#readers > 0) return;
    this.#readings.clear();
    this.#characters = 0;
  }

  get(key: string): Reading | undefined {
    const found = this.#readings.get(key);
    if (found === undefined) return undefined;
    this.#readings.delete(key);
    this.#readings.set(key, found);
    return found.reading;
  }

  put(key: string, reading: Reading): void {
    if (this.#readers === 0) return;
    this.#drop(key);
    const characters = reading.events.reduce((sum, event) => sum + event.characters, key.length);
    this.#readings.set(key, { reading, characters });
    this.#characters += characters;
    for (const oldest of this.#readings.keys()) {
      if (this.#characters <= CACHE_CHARACTERS) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#characters -= this.#readings.get(key)?.characters ?? 0;
    this.#readings.delete(key);
  }
}
