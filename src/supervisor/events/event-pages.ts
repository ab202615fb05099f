import type { EventPage } from '../../protocol/event-row.js';

/** A page ends before the event with which it would have more than either; a single larger event is a page. */
export const MAX_PAGE_EVENTS = 256;
export const MAX_PAGE_CHARACTERS = 64 * 1024;

/** Characters that the pages on the shelf have together. */
const SHELF_CHARACTERS = 8 * 1024 * 1024;

/** What a reader has read: nothing that it wants lies between its page's last event and `through`. */
export interface Reading {
  readonly events: EventPage;
  readonly through: number;
}

/**
 * The pages that readers took last, so that others who come to the same events take the same. It is empty while nobody
 * reads: a reader enters before its first page and leaves after its last.
 */
export class EventPages {
  /** The one that was taken longest ago first. */
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
      if (this.#characters <= SHELF_CHARACTERS) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#characters -= this.#readings.get(key)?.characters ?? 0;
    this.#readings.delete(key);
  }
}
