import { counted } from '#troupe/protocol/counted.js';
import type { ImportWarning } from '../../curl/import/import-curl.js';

/** More kinds of warnings than this are counted, not listed. */
const MAX_KINDS = 200;
const NAMED_PLACES = 3;

/** Collects what an import leaves out or changes. Equal findings become one, which names the first places. */
export class Findings {
  readonly #found = new Map<
    string,
    { level: ImportWarning['level']; about: string; places: string[]; count: number }
  >();
  #more = 0;

  /** Something is left out or different, so that the request may not do the same. @param place the item's name */
  warn(place: string, about: string, message: string): void {
    this.#add('warning', place, about, message);
  }

  /** Something is left out that does not change the request. */
  note(place: string, about: string, message: string): void {
    this.#add('note', place, about, message);
  }

  get warnings(): ImportWarning[] {
    const listed = [...this.#found].map(([message, { level, about, places, count }]): ImportWarning => {
      const more = count > places.length ? ` and ${count - places.length} more` : '';
      const where = places.length === 0 ? '' : ` (${places.join(', ')}${more})`;
      return { level, about, message: `${message}${where}` };
    });
    if (this.#more === 0) return listed;
    return [
      ...listed,
      { level: 'warning', about: 'warnings', message: `${counted(this.#more, 'more warning')} not listed` },
    ];
  }

  #add(level: ImportWarning['level'], place: string, about: string, message: string): void {
    const known = this.#found.get(message);
    if (known === undefined && this.#found.size >= MAX_KINDS) {
      this.#more += 1;
      return;
    }
    const found = known ?? { level, about, places: [], count: 0 };
    this.#found.set(message, found);
    if (place === '') return;
    found.count += 1;
    if (found.places.length < NAMED_PLACES) found.places.push(place);
  }
}
