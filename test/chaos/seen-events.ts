import { isDeepStrictEqual } from 'node:util';
import { EventReader, type ReadEvent } from '../support/event-reader.js';

/** What a reader of all events was shown, across the deaths of the service: every event once, in the order of numbers. */
export class SeenEvents {
  readonly #events: ReadEvent[] = [];

  /** Goes on after the last event that was taken. */
  follow(url: string): Promise<EventReader> {
    return EventReader.open(url, '/api/events', { after: this.#last });
  }

  /** @throws when a number comes twice, or not in its order */
  take(reader: EventReader): void {
    reader.cut();
    for (const event of reader.events) {
      if (event.id <= this.#last) throw new Error(`Event ${event.id} was shown after event ${this.#last}`);
      this.#events.push(event);
    }
  }

  /** @throws when the session's own events up to the last that was taken are not those that were shown */
  async compare(url: string, sessionId: string): Promise<void> {
    const shown = this.#events.filter(({ data }) => isOf(data, sessionId));
    const reader = await EventReader.open(url, `/api/sessions/${sessionId}/events`);
    const onDisk = () => reader.events.filter(({ id }) => id <= this.#last);
    await reader.until(() => reader.ended || onDisk().length >= shown.length);
    reader.cut();
    const found = onDisk();
    const at = Array.from({ length: Math.max(shown.length, found.length) }, (_, index) => index).find(
      (index) => !isDeepStrictEqual(shown[index], found[index]),
    );
    if (at === undefined) return;
    throw new Error(`Of ${sessionId} was shown ${JSON.stringify(shown[at])}, on disk is ${JSON.stringify(found[at])}`);
  }

  get #last(): number {
    return this.#events.at(-1)?.id ?? 0;
  }
}

function isOf(data: unknown, sessionId: string): boolean {
  return typeof data === 'object' && data !== null && Reflect.get(data, 'sessionId') === sessionId;
}
