import { Table } from '../script/prelude/primordials.js';
import { realNow } from './real-time.js';

/** Timers that are remembered at once; further ones are not. */
const MAX_TIMERS = 200;

/** Runs in the page's own world: the timers that a page has set and that are still to come. */
export class PageTimers {
  readonly #timers = new Table<unknown, { readonly due: number; readonly ms: number; readonly repeats: boolean }>();

  set(id: unknown, ms: number, repeats: boolean): void {
    const now = realNow();
    if (this.#timers.size >= MAX_TIMERS) {
      this.#timers.forEach(({ due, repeats: stays }, known) => {
        if (!stays && due < now) this.#timers.delete(known);
      });
    }
    if (this.#timers.size < MAX_TIMERS) this.#timers.set(id, { due: now + ms, ms, repeats });
  }

  clear(id: unknown): void {
    this.#timers.delete(id);
  }

  /** Calls `tell` for each: in how many milliseconds it is due, or how often it comes. */
  tell(tell: (ms: number, repeats: boolean) => void): void {
    const now = realNow();
    this.#timers.forEach(({ due, ms, repeats }) => {
      if (repeats) tell(ms, true);
      else if (due > now) tell(due - now, false);
    });
  }
}
