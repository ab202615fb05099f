import type { PendingTimer } from '../tabs/page-calls.js';
import { realNow } from './real-time.js';

/** Timers that are remembered at once; further ones are not. */
const MAX_TIMERS = 200;
/** Timers that an answer lists: the shortest. */
const MAX_LISTED = 5;

/** Runs in the page's own world: the timers that a page has set and that are still to come. */
export class PageTimers {
  readonly #timers = new Map<unknown, { readonly due: number; readonly ms: number; readonly repeats: boolean }>();

  set(id: unknown, delay: unknown, repeats: boolean): void {
    const ms = Math.max(0, Number(delay) || 0);
    const now = realNow();
    if (this.#timers.size >= MAX_TIMERS) {
      for (const [known, { due, repeats: stays }] of this.#timers) if (!stays && due < now) this.#timers.delete(known);
    }
    if (this.#timers.size < MAX_TIMERS) this.#timers.set(id, { due: now + ms, ms, repeats });
  }

  clear(id: unknown): void {
    this.#timers.delete(id);
  }

  /** Those that are due first come first. */
  get pending(): readonly PendingTimer[] {
    const now = realNow();
    const pending = [...this.#timers.values()].flatMap(({ due, ms, repeats }): readonly PendingTimer[] => {
      if (repeats) return [{ ms: Math.round(ms), repeats }];
      return due > now ? [{ ms: Math.round(due - now), repeats }] : [];
    });
    return pending.sort((a, b) => a.ms - b.ms).slice(0, MAX_LISTED);
  }
}
